"""The parsed project kept between homes: right after a change of the project, and harmless where it is damaged."""

from pathlib import Path

import pytest

from tests.python.support.command import query, seamline
from warehouse import parsed
from warehouse.parsed import keep_parsed, parsed_file, read_parsed


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project of two files, instead of ours."""
    folder = tmp_path / "project"
    (folder / "models").mkdir(parents=True)
    for name in ("dbt_project.yml", "profiles.yml", "models/a.sql", "models/b.sql"):
        (folder / name).write_text(f"content of {name}")
    monkeypatch.setattr(parsed, "PROJECT", folder)
    return folder


def test_any_change_of_the_project_gives_another_file(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def after(change) -> Path:
        change()
        return parsed_file("duckdb")

    seen = [
        parsed_file("duckdb"),
        parsed_file("spark"),
        after(lambda: (project / "models/a.sql").write_text("another")),
        after(lambda: (project / "models/a.sql").rename(project / "models/c.sql")),
        after(lambda: (project / "models/d.yml").write_text("")),
        after(lambda: (project / "models/d.yml").rename(project / "models/e.yml")),
        after(lambda: (project / "dbt_project.yml").write_text("vars: 2")),
        after(lambda: (project / "models/c.sql").write_text("content of models/b.sql")),
        after(lambda: monkeypatch.setattr(parsed, "_version", lambda package: "another")),
    ]
    assert len(set(seen)) == len(seen)
    (project / "models" / "notes.txt").write_text("no part of the project")
    assert parsed_file("duckdb") == seen[-1]


def test_a_project_that_changed_while_it_was_parsed_is_not_kept(project: Path) -> None:
    file, fresh = parsed_file("duckdb"), project / "fresh.msgpack"
    fresh.write_bytes(b"parsed")
    older = file.with_name("parsed-duckdb-0000000000000000.msgpack")
    other = file.with_name("parsed-spark-0000000000000000.msgpack")
    older.parent.mkdir()
    older.write_bytes(b"")
    other.write_bytes(b"")
    keep_parsed("duckdb", file, fresh)
    assert file.read_bytes() == b"parsed" and other.exists() and not older.exists()
    file.unlink()
    (project / "models/a.sql").write_text("another")
    keep_parsed("duckdb", file, fresh)
    assert not file.exists()


def test_where_it_cannot_be_kept_or_read_there_is_none(project: Path) -> None:
    fresh = project / "fresh.msgpack"
    fresh.write_bytes(b"parsed")
    (project / "target").write_text("a file where the folder should be")
    keep_parsed("duckdb", parsed_file("duckdb"), fresh)
    assert read_parsed(parsed_file("duckdb")) is None
    assert read_parsed(fresh) is None


def test_a_second_home_is_built_without_parsing_and_alike(tmp_path: Path) -> None:
    homes = [tmp_path / "one", tmp_path / "two"]
    told = []
    for home in homes:
        seamline("init", home=home)
        told.append(seamline("build", home=home).stdout.replace(str(home), ""))
        assert (home / "target" / "manifest.json").exists() and (home / "target" / "run_results.json").exists()
    assert told[0] == told[1]
    assert not (homes[1] / "target" / "partial_parse.msgpack").exists()
    columns = "select table_name, column_name, data_type from duckdb_columns() where schema_name = 'main' order by all"
    assert query(homes[0], columns) == query(homes[1], columns) != []
