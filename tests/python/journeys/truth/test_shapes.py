"""Logs of every shape that a stitch must tell apart, landed and built, give what was stated when they were planted."""

import shutil
from pathlib import Path

import pytest

from simulate.campaign import simulate
from simulate.shapes.planted import step
from simulate.shapes.truth import write_truth
from simulate.shapes.write import planted
from tests.python.support.command import seamline
from tests.python.support.shapes_truth import shape_differences


@pytest.fixture(scope="module", params=range(3))
def campaign(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """(home, simulation) of the scale shapes, landed and built."""
    home, simulated = tmp_path_factory.mktemp("campaign") / "home", tmp_path_factory.mktemp("simulated") / "shapes"
    simulate(simulated, "shapes", request.param)
    seamline("ingest", "wandb", simulated / "wandb", home=home)
    seamline("build", home=home)
    return home, simulated


def test_every_shape_is_what_was_planted(campaign: tuple[Path, Path]) -> None:
    assert shape_differences(*campaign) == []


def test_the_comparison_sees_a_changed_truth(campaign: tuple[Path, Path], tmp_path: Path) -> None:
    home, simulated = campaign
    for path in (simulated / "truth").glob("*.csv"):
        shutil.copytree(simulated / "truth", tmp_path / path.stem / "truth")
        lines = path.read_text().splitlines(keepends=True)
        (tmp_path / path.stem / "truth" / path.name).write_text("".join(lines[:-1]))
        assert {row[0] for row in shape_differences(home, tmp_path / path.stem)} == {path.stem}


def test_the_same_seed_gives_the_same_bytes_and_another_seed_others(tmp_path: Path) -> None:
    for name, seed in (("one", 3), ("again", 3), ("other", 4)):
        simulate(tmp_path / name, "shapes", seed)
    one, again, other = (contents(tmp_path / name) for name in ("one", "again", "other"))
    assert again == one
    assert other != one


def test_every_label_source_and_evidence_is_planted_in_every_seed() -> None:
    """Those that need no declared line and no second source."""
    for seed in range(50):
        places = [place for shape in planted(seed) for log in shape.logs for _, place in log.rows]
        assert {place.drop_reason for place in places} == {
            *(None, "unpositioned", "other_lineage", "rolled_back", "seam_collapsed")
        }
        assert {place.source for place in places} == {None, "logged", "step_metric", "tracker_step", "carried"}
        evidence = {log.run.evidence for shape in planted(seed) for log in shape.logs}
        assert evidence == {"run_name", "launch_name", "identity", "resumed"}


def test_a_shape_that_contradicts_itself_is_refused(tmp_path: Path) -> None:
    shape = planted(0)[0]
    log = shape.logs[0]
    log.add({"global_step": 1, "train/loss": 7.0}, step(1, 1024))
    with pytest.raises(ValueError, match="two values of global_step at training step 1"):
        write_truth(tmp_path, [shape])


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}
