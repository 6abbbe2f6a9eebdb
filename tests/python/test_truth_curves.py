"""A simulated campaign, landed and built, is what its trainer knows it to be: row by row and value by value."""

from pathlib import Path

import pytest

from tests.curves_truth import declare, differences
from tests.python.conftest import seamline


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """(home, simulation) of the small scale, landed and built."""
    home, simulated = tmp_path_factory.mktemp("campaign") / "home", tmp_path_factory.mktemp("simulated") / "small"
    seamline("simulate", simulated)
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
