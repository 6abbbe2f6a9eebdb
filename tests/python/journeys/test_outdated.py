"""A home that another version landed in: one line with the command that mends it, and nothing declared is lost."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from homes.landing import landed
from homes.paths import Home
from ingest.scores.source import SCORES
from ingest.scores.tables import ingest_scores
from ingest.sources import KINDS
from ingest.teacher_calls.logs import ingest_teacher_calls
from tests.python.support.command import DATA, query, seamline
from tests.python.support.landed import fresh, rows

RUN = DATA / "wandb" / "sdk-0.31.0" / "offline-run-20261129_233300-synth001"
VERSION_0_1 = ["source_name", "kind", "path", "digest", "size_bytes", "landed_at", "row_count", "quarantined_count"]


@pytest.fixture
def runs(tmp_path: Path, home: Path) -> Path:
    """A folder with a run that has landed, and a fact that is declared of it."""
    shutil.copytree(RUN, tmp_path / "runs" / RUN.name)
    seamline("ingest", "wandb", tmp_path / "runs", home=home)
    (home / "declared" / "arm_assignments.csv").write_text("run_id,arm,reason\nsynth001,mine,\n")
    return tmp_path / "runs"


def as_version_0_1(home: Path) -> None:
    """Make of the landing what version 0.1 left: tables of another name, records of sources without their layout."""
    for folder in sorted((home / "landing").glob("history_*")):
        folder.rename(folder.with_name(folder.name.replace("history", "wandb")))
    for file in (home / "landing" / "landed_sources").glob("*.parquet"):
        pq.write_table(pq.ParquetFile(file).read(VERSION_0_1), file)


def test_a_home_of_version_0_1_says_what_to_type_and_that_mends_it(home: Path, runs: Path) -> None:
    as_version_0_1(home)
    log = next(runs.rglob("*.wandb"))
    out = home.parent / "out"
    for command in (["build"], ["sql", "from runs"], ["export", out], ["report", out.with_suffix(".html")]):
        done = seamline(*command, home=home, check=False)
        assert done.returncode == 1 and done.stderr.count("\n") == 1, done.stderr
        assert done.stderr.endswith(f"; read it again: `seamline ingest wandb {log}`\n")
    state = json.loads(seamline("status", "--json", home=home).stdout)
    assert state["outdated"] == [{"kind": "wandb", "source": str(log)}]
    assert state["next"].endswith(f"read it again: `seamline ingest wandb {log}`")

    assert seamline("ingest", "wandb", log, home=home).stdout.startswith("wandb: 1 landed, 0 unchanged")
    seamline("build", home=home)
    assert query(home, "select arm from runs") == [("mine",)]
    assert not list((home / "landing").glob("wandb_*"))
    assert json.loads(seamline("status", "--json", home=home).stdout)["outdated"] == []


def test_what_is_gone_can_be_given_up(home: Path, runs: Path) -> None:
    as_version_0_1(home)
    shutil.rmtree(runs)
    assert "`seamline init --forget-outdated` gives those up" in seamline("build", home=home, check=False).stderr
    assert "1 sources that another version landed" in seamline("init", "--forget-outdated", home=home).stdout
    assert not landed(Home(home)) and (home / "declared" / "arm_assignments.csv").read_text().endswith("mine,\n")
    assert not list((home / "landing").glob("wandb_*"))


@pytest.mark.parametrize("change", ["a column less", "another type"])
def test_a_landed_file_with_other_columns_is_found_by_a_build(home: Path, runs: Path, change: str) -> None:
    (file,) = (home / "landing" / "history_logs").glob("[!_]*.parquet")
    table = pq.ParquetFile(file).read()
    at = table.schema.get_field_index("run_name")
    table = table.remove_column(at)
    if change == "another type":
        table = table.add_column(at, "run_name", pa.array([1]))
    pq.write_table(table, file)
    done = seamline("build", home=home, check=False)
    assert done.returncode == 1 and done.stderr.count("\n") == 1
    assert "read it again: `seamline ingest wandb" in done.stderr
    assert seamline("ingest", runs, home=home).stdout.startswith("wandb: 1 landed")
    seamline("build", home=home)


def test_a_later_reader_reads_its_own_kind_again_and_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = fresh(tmp_path / "home")
    scores = tmp_path / "scores.csv"
    scores.write_text("model_id,suite,score\nx,swe,1\n")
    calls = shutil.copy(DATA / "teacher" / "judge-responses.jsonl", tmp_path)

    def ingest() -> tuple[int, int]:
        return ingest_scores(home, [str(scores)]).landed, ingest_teacher_calls(home, [str(calls)]).landed

    assert (ingest(), ingest()) == ((1, 1), (0, 0))
    monkeypatch.setitem(KINDS, "scores", replace(SCORES, reader_version=SCORES.reader_version + 1))
    assert (ingest(), ingest()) == ((1, 0), (0, 0))
    versions = rows(home, "select kind, reader_version from landed_sources order by 1")
    assert versions == [
        ("scores", SCORES.reader_version + 1),
        ("teacher-calls", KINDS["teacher-calls"].reader_version),
    ]
