"""Exported W&B histories: which run an export is, and which of the files in a folder are W&B's."""

import os
import shutil
from pathlib import Path

import pytest

from homes.errors import SourceError
from ingest.wandb.files import ingest_wandb
from simulate.curves.wandb_writer import LogWriter
from tests.python.support.command import seamline
from tests.python.support.landed import fresh, rows
from tests.python.support.wandb.exports import CHART_SCORES, RUN, ingested, write


@pytest.mark.parametrize(
    ("place", "with_note", "run_id", "expected"),
    [
        ("by-run/arm-x/r9.csv", False, None, ("r9", "arm-x")),
        ("r9.csv", False, None, ("r9", None)),
        ("history.csv", False, "given", ("given", None)),
        ("history.csv", True, None, ("abc123", None)),
        ("anything.csv", True, None, ("abc123", None)),
        ("by-run/arm-x/history.csv", True, None, ("abc123", None)),
        ("history.csv", True, "given", ("given", None)),
    ],
)
def test_which_run_an_export_is(place, with_note, run_id, expected, tmp_path: Path):
    file = write(tmp_path / "in" / place, "_step,scores\n0,1\n")
    if with_note:
        write(file.parent / "run.json", RUN)
    home = ingested(tmp_path, file, run_id=run_id)
    assert rows(home, "select run_id, arm_in_path from history_logs") == [expected]


def test_a_run_json_beside_several_named_histories_is_of_its_own_only(tmp_path: Path):
    for name in ("abc123.csv", "other.csv"):
        write(tmp_path / "in" / name, "_step,_timestamp,scores\n0,1,1\n")
    write(tmp_path / "in" / "run.json", RUN)
    home = ingested(tmp_path, tmp_path / "in")
    assert rows(home, "select run_id, state from history_logs order by 1") == [("abc123", "finished"), ("other", None)]
    assert rows(home, "select distinct source_name from history_config") == [("abc123-export",)]


@pytest.mark.parametrize("stem", ["history", "history_scan_raw", "wandb_export_2026-01-02T10_00_00", "export", "data"])
def test_an_export_that_tells_no_run_asks_for_it(stem: str, tmp_path: Path):
    file = write(tmp_path / "in" / f"{stem}.csv", "_step,_timestamp,scores\n0,1,1\n")
    with pytest.raises(SourceError, match="--run-id"):
        ingested(tmp_path, file)
    home = ingested(tmp_path, file.parent)  # in a tree it must not stop the others
    ((reason,),) = rows(home, "select reason from quarantine")
    assert "--run-id" in reason
    ingest_wandb(home, [str(file)], "r5", workers=1)
    assert rows(home, "select run_id from history_logs") == [("r5",)]
    assert rows(home, "from quarantine") == []


@pytest.mark.parametrize("with_run_json", [True, False])
def test_several_responses_in_one_folder_are_sources_of_one_run(with_run_json: bool, tmp_path: Path):
    folder = tmp_path / "wandb_export" / "r77"
    row = '{"_step": %d, "_timestamp": 1, "scores": 1}'
    write(folder / "history.csv", "_step,_timestamp,scores\n0,1,1\n1,1,1\n2,1,1\n3,1,1\n")
    write(folder / "history_api.json", f"[{row % 0}, {row % 2}]")
    write(folder / "history_scan_raw.jsonl", f"{row % 0}\n{row % 1}\n{row % 3}\n")
    write(folder / "history_scan_raw.csv", "_step,_timestamp,scores\n0,1,1\n")
    if with_run_json:
        write(folder / "run.json", RUN)
    home = ingested(tmp_path, tmp_path / "wandb_export")
    run_id = RUN["id"] if with_run_json else "r77"
    assert rows(home, "select source_kind, run_id, history_row_count from history_logs order by 1") == [
        ("export", run_id, 4),
        ("history_api", run_id, 2),
        ("history_scan_raw", run_id, 3),
    ]


def test_run_id_for_several_exports_is_refused(tmp_path: Path):
    files = [write(tmp_path / name, "_step,scores\n0,1\n") for name in ("a.csv", "b.csv")]
    with pytest.raises(SourceError, match="2 exported histories"):
        ingested(tmp_path, *files, run_id="x")


def test_run_json_of_the_api_and_a_broken_one(tmp_path: Path):
    api = {"id": "UnVuOnYx", "name": "r77", "displayName": "nice", "config": '{"k": {"value": 3, "desc": null}}'}
    write(tmp_path / "a" / "history.csv", "_step,scores\n0,1\n")
    write(tmp_path / "a" / "run.json", api)
    write(tmp_path / "b" / "r5.csv", "_step,_timestamp,scores\n0,1,1\n")
    write(tmp_path / "b" / "run.json", '{"id": ')
    home = ingested(tmp_path, tmp_path)
    assert rows(home, "select run_id, run_name from history_logs order by 1") == [("r5", None), ("r77", "nice")]
    assert rows(home, "select config_key, value_json from history_config") == [("k", "3")]
    ((reason,),) = rows(home, "select reason from quarantine")
    assert reason.startswith("run.json is not JSON")


def test_a_tree_gives_its_logs_and_exports_and_nothing_else(tmp_path: Path):
    tree = tmp_path / "tree"
    log = tree / "wandb" / "run-1" / "run-r1.wandb"
    log.parent.mkdir(parents=True)
    with LogWriter(log) as writer:
        writer.run("r1", 1.5e9, {})
        writer.history({"_step": 0, "scores": 1})
    (tree / "wandb" / "latest-run").symlink_to("run-1")
    (tree / "loop").symlink_to(tree)
    shutil.copytree(log.parent, tree / "backup")
    write(tree / "e" / "r2.csv", "_step,_timestamp,scores\n0,1,1\n")
    write(tree / "e2" / "r3.jsonl", '{"_step": 0, "_timestamp": 1, "scores": 1}\n')
    write(tree / "by-run" / "armA" / "r4.csv", "_step,scores\n0,1\n")
    write(tree / "charts" / "c.csv", CHART_SCORES)
    write(tree / "other.csv", "a,b\n1,2\n")
    write(tree / "tokenizer.json", {"a": 1})
    write(tree / "list.json", [1, 2])
    write(tree / "wandb" / "run-1" / "files" / "wandb-summary.json", {"_step": 1, "_timestamp": 1})
    write(tree / "e" / "config.json", {"x": 1})
    home = fresh(tmp_path / "home")
    outcome = ingest_wandb(home, [str(tree)], workers=1)
    assert (outcome.landed, outcome.copies) == (5, 1)
    assert rows(home, "select run_id from history_logs order by 1") == [
        ("grpo - a",),
        ("r1",),
        ("r2",),
        ("r3",),
        ("r4",),
    ]


def test_a_log_keeps_its_name_when_it_grows_and_moves(tmp_path: Path):
    path = tmp_path / "logs" / "run-r1.wandb"
    path.parent.mkdir()
    with LogWriter(path) as writer:
        writer.run("r/1 é", 1.5e9, {"lr": 1})
        writer.history({"_step": 0, "scores": 1})
    home = ingested(tmp_path, path.parent)
    (before,) = rows(home, "select source_name, history_row_count from history_logs")
    short = tmp_path / "short.wandb"
    shutil.copy(path, short)
    with LogWriter(path) as writer:
        writer.run("r/1 é", 1.5e9, {"lr": 1})
        for step in range(5):
            writer.history({"_step": step, "scores": 1})
    ingest_wandb(home, [str(path.parent)], workers=1)
    (after,) = rows(home, "select source_name, history_row_count from history_logs")
    assert after == (before[0], 5) and "/" not in before[0] and before[1] == 1
    moved = tmp_path / "elsewhere.wandb"
    path.rename(moved)
    outcome = ingest_wandb(home, [str(moved), str(short)], workers=1)
    assert (outcome.landed, outcome.unchanged, outcome.copies) == (0, 1, 1)
    assert rows(home, "select source_name, history_row_count from history_logs") == [after]


def test_a_log_that_later_tells_its_run_replaces_what_it_was(tmp_path: Path):
    path = tmp_path / "logs" / "run-r1.wandb"
    path.parent.mkdir()
    LogWriter(path).close()
    home = ingested(tmp_path, path.parent)
    assert rows(home, "select run_id, source_name like 'norun-%' from history_logs") == [(None, True)]
    with LogWriter(path) as writer:
        writer.run("r1", 1.5e9, {})
    ingest_wandb(home, [str(path.parent)], workers=1)
    assert rows(home, "select run_id from history_logs") == [("r1",)]


def test_read_only_files_and_folders_are_read(tmp_path: Path):
    folder = tmp_path / "ro"
    folder.mkdir()
    with LogWriter(folder / "run-r1.wandb") as writer:
        writer.run("r1", 1.5e9, {})
    write(folder / "r2.csv", "_step,_timestamp,scores\n0,1,1\n")
    before = {file: file.stat().st_mtime_ns for file in folder.iterdir()}
    for file in folder.iterdir():
        file.chmod(0o444)
    folder.chmod(0o555)
    try:
        home = ingested(tmp_path, folder)
    finally:
        folder.chmod(0o755)
    assert rows(home, "select run_id from history_logs order by 1") == [("r1",), ("r2",)]
    assert {file: file.stat().st_mtime_ns for file in folder.iterdir()} == before


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("./missing", "no such file or folder"),
        ("empty", "looked for .*wandb logs"),
    ],
)
def test_a_wrong_source_is_refused_with_exit_1(source: str, says: str, tmp_path: Path, monkeypatch):
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SourceError, match=says):
        ingest_wandb(fresh(tmp_path / "home"), [source])
    if source == "empty":
        done = seamline("ingest", "wandb", tmp_path / "empty", home=tmp_path / "home", check=False)
        assert done.returncode == 1 and "looked for" in done.stderr and "Traceback" not in done.stderr


def test_an_existing_path_wins_over_entity_and_project(tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "entity" / "project" / "r2.csv", "_step,_timestamp,scores\n0,1,1\n")
    home = fresh(tmp_path / "home")
    assert ingest_wandb(home, [os.path.join("entity", "project")], workers=1).landed == 1
