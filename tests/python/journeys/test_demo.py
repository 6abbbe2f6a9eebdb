"""The demo, from nothing to an export whose curves are what the simulation planted."""

import csv
import json
import subprocess

from tests.python.support.checkpoints import truth as checkpoints_truth
from tests.python.support.command import query, seamline
from tests.python.support.planted import declare, land_run


def test_every_exported_cell_is_what_was_planted(demo):
    with open(demo / "demo" / "truth" / "curves.csv", newline="") as handle:
        _, *truth = csv.reader(handle)
    # a null is an empty cell, as is an absent value
    planted = {tuple(row[:5]): spelled(row[5]) for row in truth if row[5] != "null"}
    assert len(planted) > 1000
    with open(demo / "exports" / "arms.csv", newline="") as handle:
        files = {row["arm"]: row["file"] for row in csv.DictReader(handle)}
    exported = {}
    for arm in {row[0] for row in truth}:
        with open(demo / "exports" / files[arm], newline="") as handle:
            header, *rows = csv.reader(handle)
        metrics = [name.removeprefix("logged_") for name in header[3:]]
        for step, position, run, *cells in rows:
            values = zip(metrics, cells, strict=True)
            exported |= {(arm, step, position, run, metric): spelled(cell) for metric, cell in values if cell}
    assert exported.keys() - planted.keys() == planted.keys() - exported.keys() == set()
    assert [(k, v, planted[k]) for k, v in exported.items() if v != planted[k]] == []


def spelled(cell: str) -> str:
    """One spelling of a value: `1` for `1.0`, `inf` for `Infinity`, JSON without spaces, whole numbers exactly."""
    try:
        number = float(cell)
    except ValueError:
        return json.dumps(json.loads(cell), separators=(",", ":"))
    return cell if cell.isdigit() else repr(number).removesuffix(".0")


def test_every_checkpoint_is_what_was_planted(demo):
    assert checkpoints_truth.differences(demo, demo / "demo") == []
    with open(demo / "exports" / "manifest.csv", newline="") as handle:
        assert len(list(csv.DictReader(handle))) == 268 + 1


def test_adapters_that_the_rounds_saved_are_checkpoints_too(demo):
    family = "rounds/ropd-sim-wide/checkpoints/lora_adapter"
    told = "select family, step, base_model_name, eos_ok, source_kind from checkpoints where cell is null order by step"
    planted = [(family, step, "Qwen/Qwen3.5-9B-Base", True, "folder") for step in range(1, 10)]
    assert query(demo, told) == planted


def test_the_export_is_whole(demo):
    command = ["sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS"]
    subprocess.run(command, cwd=demo / "exports", check=True)


def test_a_demo_does_not_touch_what_a_person_declared(demo):
    before = (demo / "declared" / "metric_notes.csv").read_bytes()
    declare(demo, "metric_notes", "mine,my own note,true\n")
    done = seamline("demo", home=demo, check=False)
    assert done.returncode == 1 and "metric_notes.csv: holds declared facts that a demo would overwrite" in done.stderr
    assert (demo / "declared" / "metric_notes.csv").read_bytes() == before + b"mine,my own note,true\n"


def test_a_demo_does_not_enter_the_home_of_a_campaign(home):
    land_run(home, "run-a", [{"global_step": 1.0}], log_id="log-a")
    done = seamline("demo", home=home, check=False)
    assert done.returncode == 1 and "holds a campaign already (/runs/log-a.wandb has landed)" in done.stderr
    assert not (home / "demo").exists()
