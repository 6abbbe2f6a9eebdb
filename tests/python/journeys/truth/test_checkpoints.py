"""A simulated sweep, landed and built, is what was planted: hours, spending, packaging, scores and findings."""

from pathlib import Path

import pytest

from simulate.checkpoints.write import write
from tests.python.support.checkpoints.truth import differences
from tests.python.support.command import query, seamline


@pytest.fixture(scope="module")
def sweep(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """(home, simulation) of the card's sweep, landed and built."""
    home, simulated = tmp_path_factory.mktemp("sweep") / "home", tmp_path_factory.mktemp("simulated")
    write(simulated, "card", 0)
    seamline("init", home=home)
    for path in (simulated / "declared").glob("*.csv"):
        (home / "declared" / path.name).write_bytes(path.read_bytes())
    seamline("ingest", "checkpoints", simulated / "sweep", home=home)
    seamline("ingest", "driver-usage", simulated / "sweep", home=home)
    seamline("ingest", "scores", simulated / "scores", home=home)
    seamline("build", home=home)
    return home, simulated


def test_every_mart_equals_the_truth(sweep: tuple[Path, Path]) -> None:
    assert differences(*sweep) == []


def test_the_comparison_sees_a_changed_truth(sweep: tuple[Path, Path], tmp_path: Path) -> None:
    home, simulated = sweep
    (tmp_path / "truth").mkdir()
    for path in (simulated / "truth").glob("*.csv"):
        lines = path.read_text().splitlines(keepends=True)
        (tmp_path / "truth" / path.name).write_text("".join(lines[:-1]))
    assert {row[0] for row in differences(home, tmp_path)} == {
        f"checkpoints_{name}" for name in ("checkpoints", "cells", "scores", "frontier", "companions", "findings")
    }


def test_counts_are_those_of_the_card(sweep: tuple[Path, Path]) -> None:
    home, _ = sweep
    counted = "select cell, checkpoint_count, eos_ok_count from cells where is_valid order by checkpoint_count, cell"
    assert [(cell, count) for cell, count, _ in query(home, counted)] == [
        ("opus-high-v1", 3), ("sol-max-opusnode", 9), ("opus-max", 13), ("sol-max", 13), ("sol-max-v2", 36),
        ("kimi", 38), ("dpsk-v4-flash", 40), ("sol-high", 57), ("grok", 59),
    ]  # fmt: skip
    packaged = {cell: f"{ok}/{count}" for cell, count, ok in query(home, counted)}
    assert (packaged["grok"], packaged["sol-high"]) == ("0/59", "39/57")
    valid = "from checkpoints join cells using (cell) where is_valid"
    assert query(home, f"select hour_source, count(*) {valid} group by 1 order by 2 desc") == [
        ("mtime", 222), ("janitor", 24), ("unrecoverable", 15), ("extrapolated", 7)
    ]  # fmt: skip
    # The aborted rerun stays in checkpoints, and nowhere else.
    rerun = "where cell = 'opus-high-v2'"
    assert query(home, f"select count(*) from checkpoints {rerun}") == [(5,)]
    assert query(home, f"select count(*) from manifest_entries {rerun}") == [(0,)]
    assert query(home, f"select count(*) from frontier_scores {rerun}") == [(0,)]
    assert query(home, f"select distinct cost_status from checkpoint_scores {rerun}") == [("invalid_cell",)]
    assert query(home, "select count(*) from manifest_entries where cell <> 'BASELINE'") == [(268,)]


def test_hours_come_out_of_raw_evidence_wherever_a_checkpoint_lives_on(sweep: tuple[Path, Path]) -> None:
    counted = "select source_kind, hour_source, count(*) from checkpoints group by all order by all"
    assert query(sweep[0], counted) == [
        ("archive", "janitor", 1),
        ("folder", "extrapolated", 1), ("folder", "janitor", 8), ("folder", "unrecoverable", 5),
        ("manifest", "extrapolated", 1), ("manifest", "janitor", 8), ("manifest", "unrecoverable", 5),
        ("sweep", "extrapolated", 5), ("sweep", "janitor", 8), ("sweep", "mtime", 226), ("sweep", "unrecoverable", 5),
    ]  # fmt: skip


def test_the_broken_file_is_named(sweep: tuple[Path, Path]) -> None:
    found = query(sweep[0], "select source, locator from quarantined_records")
    assert [(Path(source).name, locator) for source, locator in found] == [
        ("kimi", "line 3 of checkpoints/sft/600/generation_config.json")
    ]


def test_a_second_ingest_reads_nothing_again(sweep: tuple[Path, Path]) -> None:
    home, simulated = sweep
    for kind, folder in (("checkpoints", "sweep"), ("driver-usage", "sweep"), ("scores", "scores")):
        assert "0 landed" in seamline("ingest", kind, simulated / folder, home=home).stdout
