"""`seamline ingest auto` over a tree that holds a bit of everything, and over the demo's campaign."""

import json
import shutil
from pathlib import Path

import pytest

from tests.python.support.command import DATA, seamline


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """One source of each kind, found by content, and a file of no kind."""
    tree = tmp_path / "campaign"
    shutil.copytree(DATA / "wandb" / "sdk-0.31.0", tree / "runs", symlinks=True)
    shutil.copytree(DATA / "checkpoints" / "MiniMind2", tree / "models" / "MiniMind2")
    shutil.copy(DATA / "verl" / "file-logger.jsonl", tree / "trainer.jsonl")
    shutil.copy(DATA / "teacher" / "judge-responses.jsonl", tree / "judge.jsonl")
    cell = tree / "lab" / "kimi"
    (cell / "driver").mkdir(parents=True)
    (cell / "run.json").write_text('{"cell": "kimi", "started_at": "2026-08-03T06:00:00Z"}')
    shutil.copy(DATA / "driver" / "codex.jsonl", cell / "driver" / "session.jsonl")
    (cell / "scores.jsonl").write_text('{"model_id": "MiniMind2", "suite": "swe", "score": 1}\n')
    (cell / "notes.md").write_text("what we tried")
    record = {"step": 0, "sample_idx": 0, "response_tokens": [1], "logprobs": [-0.5], "finish_reason": "stop"}
    (tree / "saved").mkdir()
    (tree / "saved" / "arm__1__1788000000_rollouts_000000.jsonl").write_text(json.dumps(record) + "\n")
    (tree / "rounds" / "round_1").mkdir(parents=True)
    (tree / "rounds" / "round_1" / "siblings.jsonl").write_text('{"run_id": "r", "step": 1, "reward": 0.5}\n')
    return tree


def test_every_kind_is_found_by_its_content(tree: Path, home: Path) -> None:
    done = seamline("ingest", "auto", tree, home=home)
    told = {line.split(":")[0]: line for line in done.stdout.splitlines() if not line.startswith("  ")}
    assert set(told) == {
        "wandb", "rollouts", "rounds", "native-metrics", "teacher-calls", "driver-usage", "scores", "checkpoints",
        "not recognised",
    }  # fmt: skip
    assert told["checkpoints"].startswith("checkpoints: 2 landed")
    assert told["not recognised"] == "not recognised: 1 files (1 .md), such as lab/kimi/notes.md"
    again = seamline("ingest", "auto", tree, home=home)
    assert "1 landed" not in again.stdout and "0 landed" in again.stdout


def test_what_lies_beside_a_simulation_is_not_upstream(tree: Path, home: Path) -> None:
    (tree / "truth").mkdir()
    (tree / "truth" / "scores.csv").write_text("model_id,suite,score\nx,swe,1\n")
    assert "scores: 2 landed" in seamline("ingest", "auto", tree, home=home).stdout
    (tree / ".seamline-simulation").write_text("truth\n")
    shutil.rmtree(home)
    assert "scores: 1 landed" in seamline("ingest", "auto", tree, home=home).stdout


def test_a_trainer_s_saved_step_is_no_checkpoint_of_a_sweep(tmp_path: Path, home: Path) -> None:
    step = tmp_path / "tree" / "rounds" / "run" / "checkpoints" / "global_step_5" / "actor"
    step.mkdir(parents=True)
    (step / "config.json").write_text('{"model_type": "qwen3_5"}')
    done = seamline("ingest", "auto", tmp_path / "tree", home=home)
    assert done.stdout.startswith("rounds: 1 landed") and "checkpoints: " not in done.stdout


def test_a_kind_that_fails_does_not_keep_the_others_out(tree: Path, home: Path) -> None:
    (tree / "history.csv").write_text("loss\n1\n")
    done = seamline("ingest", "auto", tree, home=home, check=False)
    assert done.returncode == 1 and "wandb: failed: " in done.stdout and "checkpoints: 2 landed" in done.stdout


def test_nothing_known_is_an_error(tmp_path: Path, home: Path) -> None:
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "notes.md").write_text("x")
    for place, said in (("tree", "nothing in it is known"), ("missing", "no such folder")):
        done = seamline("ingest", "auto", tmp_path / place, home=home, check=False)
        assert done.returncode == 1 and said in done.stderr
