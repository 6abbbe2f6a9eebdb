"""A simulated campaign, landed and built, is what its trainer knows it to be: row by row and value by value."""

import csv
from collections import defaultdict
from pathlib import Path

import pytest

from simulate.curves import write as curves
from tests.python.support.command import seamline
from tests.python.support.curves_truth import declare, differences


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """(home, simulation) of the small scale, landed and built."""
    home, simulated = tmp_path_factory.mktemp("campaign") / "home", tmp_path_factory.mktemp("simulated") / "small"
    curves.write(simulated, "small", 0)
    seamline("init", home=home)
    declare(home, simulated)
    seamline("ingest", "wandb", simulated / "wandb", home=home)
    seamline("build", home=home)
    return home, simulated


def test_every_mart_equals_the_truth(campaign: tuple[Path, Path]) -> None:
    assert differences(*campaign) == []


def test_the_comparison_sees_a_changed_truth(campaign: tuple[Path, Path], tmp_path: Path) -> None:
    home, simulated = campaign
    truth = tmp_path / "truth"
    truth.mkdir()
    for path in (simulated / "truth").glob("*.csv"):
        lines = path.read_text().splitlines(keepends=True)
        last_step_lines = 20 if path.stem == "curves" else 1
        (truth / path.name).write_text("".join(lines[:-last_step_lines]))
    assert {row[0] for row in differences(home, tmp_path)} == {
        "run_rows",
        "logs",
        "arms",
        "curve_findings",
        "config_deviations",
        "arm_steps",
        "arm_metrics",
    }


def test_every_exported_curve_equals_the_truth(campaign: tuple[Path, Path], tmp_path: Path) -> None:
    """Value by value in the files people plot: NaN is spelled NaN, a null is an empty cell, text stays text."""
    home, simulated = campaign
    seamline("export", tmp_path / "export", "--only", "curves", "--no-figures", home=home)
    told: dict[str, dict[tuple[int, str], str]] = defaultdict(dict)
    for line in rows_of(simulated / "truth" / "curves.csv"):
        told[line["arm"]][int(line["training_step"]), line["metric"]] = "" if line["value"] == "null" else line["value"]
    files = {line["arm"]: line["file"] for line in rows_of(tmp_path / "export" / "arms.csv") if line["file"]}
    assert set(files) == set(told)
    for arm, file in files.items():
        path = (tmp_path / "export" / file).resolve()
        assert path.parent == tmp_path / "export" / "by-arm"
        found = {}
        for line in rows_of(path):
            step = int(line.pop("training_step"))
            del line["position"], line["run_id"]
            found |= {(step, name.removeprefix("logged_")): text for name, text in line.items() if text != ""}
        assert set(found) == {key for key, text in told[arm].items() if text}, arm
        for key, text in found.items():
            assert same(text, told[arm][key]), (arm, key)


def same(exported: str, told: str) -> bool:
    """Whether two spellings are one value: doubles by their value, integers that no double holds and text exactly."""
    try:
        number = float(told)
    except ValueError:
        return exported.replace(" ", "") == told.replace(" ", "")
    if number.is_integer() and abs(number) > 2**53:
        return exported == told
    return float(exported) == number or (exported == "NaN" and told == "NaN")


def rows_of(path: Path) -> list[dict[str, str]]:
    with open(path, newline="", encoding="utf-8") as handle:
        return list(csv.DictReader(handle))
