"""The published index of a simulated sweep, and that Seamline reads its own index back."""

import csv
import json
from pathlib import Path

import pytest

from simulate.checkpoints.write import write
from tests.python.support.command import query, seamline

CARD_FIELDS = {
    "model_id", "cell", "driver", "effort", "hour", "hour_source", "hour_upper_bound", "driver_tokens_at_hour", "role",
    "eos_ok", "eos_token_id", "source",
}  # fmt: skip


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """(export, simulation) of the card's sweep."""
    folder = tmp_path_factory.mktemp("index")
    home, simulated = folder / "home", folder / "simulated"
    write(simulated, "card", 0)
    seamline("init", home=home)
    for path in (simulated / "declared").glob("*.csv"):
        (home / "declared" / path.name).write_bytes(path.read_bytes())
    seamline("ingest", "checkpoints", simulated / "sweep", home=home)
    seamline("ingest", "driver-usage", simulated / "sweep", home=home)
    seamline("ingest", "scores", simulated / "scores", home=home)
    seamline("build", home=home)
    seamline("export", folder / "export", "--only", "checkpoints", "--no-figures", home=home)
    return folder / "export", simulated


def planted(simulated: Path) -> dict[str, dict[str, str]]:
    """The truth of the checkpoints that the index must hold, by model id."""
    with open(simulated / "truth" / "checkpoints_checkpoints.csv", newline="") as handle:
        return {row["model_id"]: row for row in csv.DictReader(handle) if row["cell"] != "opus-high-v2"}


def test_the_manifest_has_the_card_s_fields_and_the_planted_rows(exported: tuple[Path, Path]) -> None:
    export, simulated = exported
    with open(export / "manifest.csv", newline="") as handle:
        rows = {row["model_id"]: row for row in csv.DictReader(handle)}
    assert set(next(iter(rows.values()))) == CARD_FIELDS
    baseline = rows.pop("Qwen/Qwen3.5-9B-Base")
    truth = planted(simulated)
    assert set(rows) == set(truth) and len(rows) == 268
    for model_id, row in rows.items():
        for name in ("cell", "hour_source", "role", "eos_ok", "driver_tokens_at_hour"):
            assert row[name] == truth[model_id][name], (model_id, name)
        for name in ("hour", "hour_upper_bound"):
            assert bool(row[name]) == bool(truth[model_id][name])
            assert not row[name] or float(row[name]) == pytest.approx(float(truth[model_id][name]), abs=1e-6)
    assert (baseline["cell"], baseline["hour"], baseline["driver_tokens_at_hour"]) == ("BASELINE", "0", "0")
    assert json.loads(baseline["eos_token_id"]) == [248044, 248046] and baseline["eos_ok"] == "true"


def test_json_and_csv_tell_the_same_and_ids_sort_by_time_within_a_cell(exported: tuple[Path, Path]) -> None:
    export, _ = exported
    from_json = json.loads((export / "manifest.json").read_text())
    with open(export / "manifest.csv", newline="") as handle:
        from_csv = list(csv.DictReader(handle))
    assert [row["model_id"] for row in from_json] == [row["model_id"] for row in from_csv]
    for one, other in zip(from_json, from_csv, strict=True):
        ids = json.loads(other["eos_token_id"]) if other["eos_token_id"] else None
        assert one["eos_token_id"] == ids
        assert one["hour"] == (float(other["hour"]) if other["hour"] else None)
        assert one["eos_ok"] == {"true": True, "false": False, "": None}[other["eos_ok"]]
    for cell in {row["cell"] for row in from_json} - {"BASELINE"}:
        hours = [row["hour"] for row in from_json if row["cell"] == cell and row["hour"] is not None]
        assert hours == sorted(hours)


def test_the_readme_says_what_to_know_before_comparing(exported: tuple[Path, Path]) -> None:
    readme = (exported[0] / "README.md").read_text()
    assert "| `grok` | 0 | 59 | 0 |" in readme and "| `sol-high` | 39 | 57 | 0 |" in readme
    assert "| `kimi` | 36 | 38 | 2 |" in readme
    assert "| `unrecoverable` | 15 |" in readme and "cost_per_point" in readme
    # Of the two companions of each cell, one holds three files.
    assert "| `agentic-ptb/grok-record` | – | the cell's record | 3 | RUNLOG.md, configs/ (2) |" in readme
    # What a server needs is said of the one cell that has it.
    assert "| `grok` | Qwen3\\_5ForConditionalGeneration | 59 | 0 | 0 | 0 | 59 |" in readme
    assert "--limit-mm-per-prompt" in readme and "| `kimi` | – | 0 |" not in readme
    assert "`opus-high-v2` is not valid and deliberately absent." in readme
    assert not any("opus-high-v2." in path.read_text() for path in exported[0].glob("manifest.*"))


def test_seamline_reads_its_own_index_back(exported: tuple[Path, Path], tmp_path: Path) -> None:
    export, simulated = exported
    seamline("ingest", "checkpoints", export / "manifest.json", export / "manifest.csv", home=tmp_path)
    seamline("build", home=tmp_path)
    told = query(
        tmp_path, "select model_id, cell, family, step, hour, hour_source, role, eos_ok from checkpoints order by 1"
    )
    truth = planted(simulated)
    assert len(told) == 268
    for model_id, cell, family, step, hour, hour_source, role, eos_ok in told:
        row = truth[model_id]
        assert (cell, family, str(step), hour_source, role) == (
            row["cell"], row["family"], row["step"], row["hour_source"], row["role"],
        )  # fmt: skip
        assert ("" if eos_ok is None else str(eos_ok).lower()) == row["eos_ok"]
        assert (hour is None) == (row["hour"] == "") and (hour is None or abs(hour - float(row["hour"])) < 1e-6)
    again = tmp_path / "again"
    seamline("export", again, "--only", "checkpoints", "--no-figures", home=tmp_path)
    assert json.loads((again / "manifest.json").read_text()) == json.loads((export / "manifest.json").read_text())
