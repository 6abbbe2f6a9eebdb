"""`seamline ingest auto` over a tree that holds a bit of everything, and over the demo's campaign."""

import json
import shutil
from pathlib import Path

import pytest

from ingest.detect import Found, find_sources
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


def test_a_trainer_s_saved_step_is_a_checkpoint_and_no_cell_of_a_sweep(tmp_path: Path, home: Path) -> None:
    step = tmp_path / "tree" / "rounds" / "run" / "checkpoints" / "global_step_5" / "actor"
    step.mkdir(parents=True)
    (step / "config.json").write_text('{"model_type": "qwen3_5"}')
    done = seamline("ingest", "auto", tmp_path / "tree", home=home)
    assert done.stdout.startswith("rounds: 1 landed") and "checkpoints: 1 landed" in done.stdout
    assert "checkpoint_cells" not in done.stdout


def test_what_a_checkpoint_s_folder_holds_besides_is_looked_at(tmp_path: Path) -> None:
    run = tmp_path / "out" / "run"
    shutil.copytree(DATA / "checkpoints" / "MiniMind2", run)
    shutil.copytree(DATA / "checkpoints" / "MiniMind2", run / "checkpoint-5")
    (run / "checkpoint-5" / "why.csv").write_text("a,b\n1,2\n")
    (run / "checkpoint-5" / "optimizer.pt").write_text("o")
    (run / "tokenizer").mkdir()
    (run / "tokenizer" / "tokenizer.json").write_text("{}")
    found = Found()
    find_sources(tmp_path / "out", found)
    assert [path.name for path in found.sources["checkpoints"]] == ["run", "checkpoint-5"]
    assert [path.name for path in found.unknown] == ["why.csv"]


def test_a_kind_that_fails_does_not_keep_the_others_out(tree: Path, home: Path) -> None:
    (tree / "history.csv").write_text("_step,loss\n1,1\n")
    done = seamline("ingest", "auto", tree, home=home, check=False)
    assert done.returncode == 1 and "wandb: failed: " in done.stdout and "checkpoints: 2 landed" in done.stdout


def test_nothing_known_is_an_error(tmp_path: Path, home: Path) -> None:
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "notes.md").write_text("x")
    for place, said in (("tree", "nothing in it is known"), ("missing", "no such file or folder")):
        done = seamline("ingest", "auto", tmp_path / place, home=home, check=False)
        assert done.returncode == 1 and said in done.stderr


SOMETHING_ELSE = {
    "eval_gsm8k.json": '{"results": {"gsm8k": {"acc": 0.5}}}',
    "eval_table.json": '[{"task": "gsm8k", "acc": 0.5}]',
    "scheduler_lr.jsonl": '{"step": 1, "lr": 0.1, "reason": "warm-up"}\n',
    "siblings.jsonl": '{"name": "ann", "brothers": 2}\n',
    "photos_rollouts_1.jsonl": '{"prompt": "a cat", "image": "cat.png"}\n',
    "papers_metadata.jsonl": '{"title": "On seams", "timestamp": "2026-09-01"}\n',
    "history.csv": "date,event\n1789,revolution\n",
    "history.json": '[{"url": "https://example.org", "visits": 3}]',
    "by-run/lap/one.csv": "lap,seconds\n1,71\n",
    "verl_metrics/p/prompts.jsonl": '{"prompt": "hello"}\n',
    "teacher_calls/notes.jsonl": '{"note": "call the teacher"}\n',
    "ledger/teacher_spend.jsonl": '{"month": "May", "euros": 3}\n',
    "sft.jsonl": '{"model": "m", "input_tokens": 3, "text": "x"}\n',
    "prices.jsonl": '{"model": "m", "usage": "chat"}\n{"usage": {"input_tokens": 3}}\n',
    "lab/wandb_export/trip/run.json": '{"kilometres": 12}',
    "house/ckpt-janitor.log": "swept the stairs\n",
    "cell/run.json": '{"cell": "cell"}',
    "cell/driver/dataset.jsonl": '{"prompt": "x", "completion": "y"}\n',
}
"""Files with the name or the place of a kind, and what they hold."""
KNOWN = {"cell/run.json"}


def write_all(folder: Path) -> None:
    for name, text in SOMETHING_ELSE.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def test_a_name_alone_claims_no_file(tmp_path: Path) -> None:
    write_all(tmp_path)
    found = Found()
    find_sources(tmp_path, found)
    claimed = {path.relative_to(tmp_path).as_posix() for paths in found.sources.values() for path in paths}
    assert claimed == {"cell"}
    assert {path.relative_to(tmp_path).as_posix() for path in found.unknown} == set(SOMETHING_ELSE) - KNOWN


def test_what_is_not_recognised_is_named_and_a_kind_reads_it_all_the_same(tmp_path: Path, home: Path) -> None:
    write_all(tmp_path / "tree")
    done = seamline("ingest", tmp_path / "tree", home=home)
    assert done.stdout.splitlines()[-1].startswith("not recognised: 17 files (")
    odd = tmp_path / "tree" / "scheduler_lr.jsonl"
    assert seamline("ingest", "rounds", odd, home=home).stdout.startswith("rounds: 1 landed")


def test_a_damaged_or_empty_file_is_still_claimed_by_its_name(tmp_path: Path) -> None:
    for name, text in {
        "a_rollouts_1.jsonl": "",
        "b_rollouts_1.jsonl.gz": "no gzip",
        "round_1/siblings.jsonl": '{"group_id": "g", "sibling_index": 1, "rew',
        "eval_sft.json": "\0\0\0\0",
        "run/run-1.wandb": "",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    found = Found()
    find_sources(tmp_path, found)
    assert found.unknown == [] and set(found.sources) == {"rollouts", "rounds", "wandb"}


def test_any_path_without_a_kind_is_found_by_content(tree: Path, home: Path) -> None:
    done = seamline("ingest", tree / "judge.jsonl", tree / "trainer.jsonl", tree / "models", home=home)
    assert [line.split(":")[0] for line in done.stdout.splitlines() if not line.startswith("  ")] == [
        "native-metrics",
        "teacher-calls",
        "checkpoints",
        "not recognised",
    ]
    assert done.stdout.splitlines()[-1] == "not recognised: nothing"
    note = tree / "lab" / "kimi" / "notes.md"
    done = seamline("ingest", note, home=home, check=False)
    assert (
        done.returncode == 1
        and "nothing in it is known" in done.stderr
        and "`seamline ingest KIND FILE`" in done.stderr
    )
    done = seamline("ingest", note, tree / "judge.jsonl", home=home)
    assert done.stdout.splitlines()[-1] == f"not recognised: 1 files (1 .md), such as {note}"


def test_a_kind_wins_over_a_path_of_its_name(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "scores").mkdir()
    (tmp_path / "scores" / "a.csv").write_text("model_id,suite,score\nx,swe,1\n")
    assert seamline("ingest", "scores", home=home, check=False).returncode == 2
    for words in (["./scores"], ["scores", "scores"], ["--home", home, "./scores"]):
        assert seamline("ingest", *words, home=home).stdout.startswith("scores: ")


def test_what_lies_there_because_of_a_run_is_no_stranger_but_its_neighbours_are(tmp_path: Path) -> None:
    shutil.copytree(DATA / "wandb" / "sdk-0.31.0", tmp_path / "wandb")
    run = next((tmp_path / "wandb").iterdir())
    (run / "files").mkdir()
    (run / "files" / "config.yaml").write_text("lr: 1")
    (tmp_path / "wandb" / "latest-run").symlink_to(run)
    (tmp_path / "wandb" / "plan.txt").write_text("win")
    (tmp_path / "history.csv").write_text("_step,loss\n1,1\n")
    (tmp_path / "run.json").write_text('{"id": "r"}')
    (tmp_path / "notes.md").write_text("x")
    found = Found()
    find_sources(tmp_path, found)
    assert [path.name for path in found.unknown] == ["notes.md", "plan.txt"]


def test_a_linked_folder_is_searched_once(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    (tmp_path / "disk" / "a.csv").write_text("model_id,suite,score\nx,swe,1\n")
    (tmp_path / "disk" / "back").symlink_to(tmp_path)
    (tmp_path / "campaign").mkdir()
    (tmp_path / "campaign" / "one").symlink_to(tmp_path / "disk")
    (tmp_path / "campaign" / "two").symlink_to(tmp_path / "disk")
    found = Found()
    find_sources(tmp_path / "campaign", found)
    assert len(found.sources["scores"]) == 1


def test_a_checkpoint_folder_hides_no_run_in_it(tmp_path: Path) -> None:
    shutil.copytree(DATA / "checkpoints" / "MiniMind2", tmp_path / "out")
    (tmp_path / "out" / "vocab.txt").write_text("a b c")
    shutil.copytree(DATA / "wandb" / "sdk-0.31.0", tmp_path / "out" / "wandb")
    found = Found()
    find_sources(tmp_path / "out", found)
    assert set(found.sources) == {"checkpoints", "wandb"} and found.unknown == []
