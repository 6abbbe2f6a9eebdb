"""`seamline explain`: of a crashed run, its resume and a relaunch that died, every word worked out by hand."""

import json
from pathlib import Path

import pytest

from tests.python.support.command import seamline
from tests.python.support.planted import land_run


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Run a logs steps 0 to 50, b starts from scratch and dies at 10, c resumes a at 40 and goes on to 60."""
    home = tmp_path_factory.mktemp("explained") / "home"
    spans = {"a": range(0, 60, 10), "b": range(0, 20, 10), "c": range(40, 70, 10)}
    for hour, (run, steps) in enumerate(spans.items()):
        rows = [{"global_step": float(step), "loss": float(step + hour)} for step in steps]
        land_run(home, run, rows, name="arm", hour=hour, log_id=f"log-{run}")
    seamline("build", home=home)
    return home


def test_the_curve_is_told_from_its_launches_to_what_was_dropped(home):
    told = json.loads(seamline("explain", "arm", "--json", home=home).stdout)
    assert (told["arm"]["step_count"], told["arm"]["leaf_run_id"]) == (7, "c")
    assert [run["evidence"] for run in told["runs"]] == ["run_name"] * 3
    assert [(s["run_id"], s["parent_segment_number"], s["is_chosen"]) for s in told["segments"]] == [
        ("a", None, True),
        ("b", None, False),
        ("c", 1, True),
    ]
    assert [(s["segment_number"], s["position"], s["is_same_step"]) for s in told["seams"]] == [(3, 40, False)]
    assert [(d["run_id"], d["drop_reason"], d["superseded_by_run_id"], d["row_count"]) for d in told["dropped"]] == [
        ("a", "rolled_back", "c", 2),
        ("b", "other_lineage", None, 2),
    ]
    assert "step" not in told


def test_a_step_is_told_from_the_record_it_was_read_from(home):
    told = json.loads(seamline("explain", "arm", "--step", 5, "--metric", "loss", "--json", home=home).stdout)
    assert (told["step"]["position"], told["step"]["run_id"]) == (40, "c")
    assert [(value["metric"], value["value"]) for value in told["values"]] == [("loss", 42)]
    rows = [(r["run_id"], r["row_idx"], r["record_number"], r["drop_reason"], r["logged"]) for r in told["rows"]]
    assert rows == [("a", 4, 5, "rolled_back", {"loss": 40}), ("c", 0, 1, None, {"loss": 42})]


def test_a_person_reads_it_as_a_tree(home):
    text = seamline("explain", "arm", "--step", 5, home=home).stdout
    assert "arm: 7 steps, from 3 runs and 3 logs" in text
    assert "\n  segment 3: resumed, run c, 40 to 60, logged steps: 3" in text
    assert "segment 2: fresh start, run b, 0 to 10" in text and "other lineage" in text
    assert "/runs/log-a.wandb row 4, record 5: position logged, rolled_back by run c" in text


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (["arn"], "no arm is named 'arn'; there is arm"),
        (["arm", "--step", 8], "arm has no training_step 8: its steps are 1 to 7"),
        (["arm", "--step", 4, "--metric", "lost"], "named 'lost'; there is loss"),
    ],
)
def test_what_is_not_there_is_told_with_what_is_close(home, wrong, says):
    done = seamline("explain", *wrong, home=home, check=False)
    assert done.returncode == 1 and says in done.stderr and "Traceback" not in done.stderr


def test_a_metric_alone_is_wrong_usage(home):
    assert seamline("explain", "arm", "--metric", "loss", home=home, check=False).returncode == 2
