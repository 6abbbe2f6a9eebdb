"""Exported W&B histories, and which of the files in a folder are W&B's."""

import json
import math
import os
import shutil
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from homes.errors import SourceError
from homes.paths import Home
from ingest.wandb.csv_items import cell_json
from ingest.wandb.files import ingest_wandb
from simulate.curves.wandb_writer import LogWriter
from tests.python.support.command import seamline
from tests.python.support.landed import everything, fresh, rows

HISTORY = '''_step,_timestamp,_runtime,scores,note,h,nest,big,flag
0,1795995180.5,0.5,0.25,hello,"{""_type"": ""histogram""}","{""a"": 1, ""b"": {""c"": NaN}}",9007199254740993,True
1,1795995181.5,1.5,NaN,,,,5,False
2,1795995182.5,2.5,-Infinity,"""1""",,,,
3,1795995183.5,3.5,oops,,,,,
4,1795995184.5,4.5,1e-300,"",,,,
'''
RUN = {
    "id": "abc123",
    "name": "my run__1__1795995180",
    "state": "finished",
    "config": {"lr": {"value": 1e-5}, "a": {"value": {"b": 2}}},
    "group": "g",
    "project": "proj",
    "created_at": "2026-11-29T23:33:00Z",
}


def write(path: Path, text: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text if isinstance(text, str) else json.dumps(text), encoding="utf-8")
    return path


def ingested(folder: Path, *sources: Path, run_id: str | None = None) -> Home:
    home = fresh(folder / "home")
    ingest_wandb(home, [str(source) for source in sources], run_id, workers=1)
    return home


VALUES = """
    select row_idx, metric, key_path, value, value_text
    from history_values where not starts_with(metric, '_') order by all
"""


def test_a_history_csv_lands_with_the_run_json_beside_it(tmp_path: Path):
    write(tmp_path / "x" / "history.csv", HISTORY)
    write(tmp_path / "x" / "run.json", RUN)
    write(tmp_path / "x" / "summary.json", {"scores": 0.9, "best": {"x": 1}})
    samples = "1795995180.25,12.5,60\n1795995195.25,13.5,\n"
    write(tmp_path / "x" / "system_metrics.csv", "_timestamp,system.cpu,system.gpu.0.temp\n" + samples)
    home = ingested(tmp_path, tmp_path / "x")
    facts = """
        select run_id, source_kind, run_name, state, run_group, project, arm_in_path, has_exit_record,
               history_row_count, started_at from history_logs"""
    ((*told, started_at),) = rows(home, facts)
    assert told == ["abc123", "export", "my run__1__1795995180", "finished", "g", "proj", None, None, 5]
    assert started_at.isoformat() == "2026-11-29T23:33:00"
    landed = rows(home, VALUES)
    (nan,) = [row for row in landed if row[1] == "scores" and row[0] == 1]
    assert math.isnan(nan[3])
    (deep,) = [row for row in landed if row[1] == "nest.b.c"]
    assert math.isnan(deep[3]) and deep[2] == '["nest", "b", "c"]'
    assert [row for row in landed if row not in (nan, deep)] == [
        (0, "big", None, 2.0**53, "9007199254740993"),
        (0, "flag", None, None, "true"),
        (0, "h", None, None, '{"_type": "histogram"}'),
        (0, "nest.a", '["nest", "a"]', 1.0, None),
        (0, "note", None, None, '"hello"'),
        (0, "scores", None, 0.25, None),
        (1, "big", None, 5.0, None),
        (1, "flag", None, None, "false"),
        (2, "note", None, None, '"1"'),
        (2, "scores", None, -math.inf, None),
        (3, "scores", None, None, '"oops"'),
        (4, "note", None, None, '""'),
        (4, "scores", None, 1e-300, None),
    ]
    clocks = "select row_idx, record_number, step, epoch(logged_at), runtime_seconds from history_rows order by 1"
    assert rows(home, clocks) == [(i, i + 2, i, 1795995180.5 + i, 0.5 + i) for i in range(5)]
    assert rows(home, "select config_key, value_json from history_config order by 1") == [("a.b", "2"), ("lr", "1e-05")]
    summary = rows(home, "select summary_key, value_json from history_summary order by 1")
    assert summary == [("best.x", "1"), ("scores", "0.9")]
    assert rows(home, "select sample_idx, epoch(logged_at), metric, value from history_system_values order by all") == [
        (0, 1795995180.25, "cpu", 12.5),
        (0, 1795995180.25, "gpu.0.temp", 60.0),
        (1, 1795995195.25, "cpu", 13.5),
    ]
    assert rows(home, "from quarantine") == []


@pytest.mark.parametrize("suffix", [".json", ".jsonl"])
def test_json_rows_land_like_csv_rows(suffix: str, tmp_path: Path):
    logged = [
        {"_step": 0, "_timestamp": 1795995180.5, "v": "NaN", "w": "Infinity", "n": {"a": {"b": 1.5}}, "s": "txt"},
        {"_step": 1, "_timestamp": 1795995181.5, "v": math.nan, "w": -math.inf, "l": [1, 2], "x": None},
        {"_step": 2, "_timestamp": 1795995182.5, "v": 12345678901234567890, "f": True, "h": {"_type": "table-file"}},
    ]
    text = json.dumps(logged) if suffix == ".json" else "".join(json.dumps(row) + "\n" for row in logged)
    write(tmp_path / f"run7{suffix}", text)
    home = ingested(tmp_path, tmp_path / f"run7{suffix}")
    landed = {(row, metric): (value, text) for row, metric, _, value, text in rows(home, VALUES)}
    assert math.isnan(landed.pop((0, "v"))[0]) and math.isnan(landed.pop((1, "v"))[0])
    assert landed == {
        (0, "n.a.b"): (1.5, None),
        (0, "s"): (None, '"txt"'),
        (0, "w"): (math.inf, None),
        (1, "l"): (None, "[1, 2]"),
        (1, "w"): (-math.inf, None),
        (1, "x"): (None, None),
        (2, "f"): (None, "true"),
        (2, "h"): (None, '{"_type": "table-file"}'),
        (2, "v"): (12345678901234567890.0, "12345678901234567890"),
    }
    assert rows(home, "select run_id, history_row_count from history_logs") == [("run7", 3)]
    assert rows(home, "select step, epoch(logged_at) from history_rows order by 1") == [
        (0, 1795995180.5),
        (1, 1795995181.5),
        (2, 1795995182.5),
    ]


@pytest.mark.parametrize("cut", range(60, 290, 9))
def test_a_torn_jsonl_keeps_the_lines_before(cut: int, tmp_path: Path):
    lines = [json.dumps({"_step": i, "_timestamp": 1.5e9 + i, "scores": i / 3}) + "\n" for i in range(5)]
    text = "".join(lines)[:cut]
    write(tmp_path / "r.jsonl", text)
    home = ingested(tmp_path, tmp_path / "r.jsonl")
    whole = sum(len("".join(lines[: i + 1]).rstrip()) <= cut for i in range(5))
    assert rows(home, "select count(*) from history_rows") == [(whole,)]
    torn = len(text) > len("".join(lines[:whole]))
    assert rows(home, "select locator from quarantine") == ([(f"line {whole + 1}",)] if torn else [])


def test_a_torn_json_list_keeps_the_rows_before(tmp_path: Path):
    write(tmp_path / "r.json", '[{"_step": 0, "_timestamp": 1}, {"_step": 1}, 5, {"_step": 2, "v": [1, 2')
    home = ingested(tmp_path, tmp_path / "r.json")
    assert rows(home, "select step from history_rows order by 1") == [(0,), (1,)]
    faults = rows(home, "select locator, reason from quarantine order by 1")
    assert faults[0] == ("byte 46", "row 3 is not a JSON object")
    assert faults[1][0] == "byte 49" and faults[1][1].startswith("row 4 and what follows is not JSON")


def test_a_key_twice_in_a_json_row_lands_once(tmp_path: Path):
    write(tmp_path / "r.jsonl", '{"_step": 0, "v": 1, "v": 2}\n')
    home = ingested(tmp_path, tmp_path / "r.jsonl")
    assert rows(home, VALUES) == [(0, "v", None, 2.0, None)]
    assert rows(home, "select locator, reason from quarantine") == [
        ("line 1", "'v' more than once in one row: the last value landed")
    ]


def test_a_duplicate_and_a_nameless_column_are_quarantined_by_name(tmp_path: Path):
    write(tmp_path / "r.csv", "_step,a,,a\n0,1,2,3\n")
    home = ingested(tmp_path, tmp_path / "r.csv")
    assert rows(home, VALUES) == [(0, "a", None, 3.0, None)]
    assert rows(home, "select locator, reason from quarantine order by 2") == [
        ("line 1", "column 2: 'a' names 2 columns, of which the last, column 4, landed"),
        ("line 1", "column 3 has no name"),
    ]


def test_rows_of_another_width_and_cells_of_another_encoding_are_quarantined(tmp_path: Path):
    (tmp_path / "r.csv").write_bytes(b"_step,a,b\n0,1,2\n1,5\n2,\xff,7\n3,4,5,6\n4,8,9\n5,1")
    home = ingested(tmp_path, tmp_path / "r.csv")
    assert rows(home, "select step, record_number from history_rows order by 1") == [(0, 2), (2, 4), (4, 6)]
    assert rows(home, VALUES) == [
        (0, "a", None, 1.0, None),
        (0, "b", None, 2.0, None),
        (1, "b", None, 7.0, None),
        (2, "a", None, 8.0, None),
        (2, "b", None, 9.0, None),
    ]
    assert rows(home, "select locator, reason from quarantine order by 1") == [
        ("line 3", "2 cells where the header has 3"),
        ("line 4", "column 'a' is no UTF-8 text"),
        ("line 5", "4 cells where the header has 3"),
        ("line 7", "2 cells where the header has 3"),
    ]


@pytest.mark.parametrize("text", ["0,1,2\n1,2,3\n", "0.5,,NaN\n", "", "\n"])
def test_a_csv_without_a_header_is_refused(text: str, tmp_path: Path):
    file = write(tmp_path / "r.csv", text)
    with pytest.raises(SourceError, match=r"line 1: (no header|the file is empty)"):
        ingested(tmp_path, file)
    assert rows(Home(tmp_path / "home"), "select count(*) from history_values") == [(0,)]
    assert rows(Home(tmp_path / "home"), "select locator from quarantine") == [("line 1",)]


def test_numbers_where_dates_or_versions_stand_among_them(tmp_path: Path):
    write(tmp_path / "r.csv", "_step,a\n0,1.5\n1,2026-01-02\n2,1.2.3\n3, 7 \n4,+3\n5,.5\n6,1_000\n7,0x10\n")
    home = ingested(tmp_path, tmp_path / "r.csv")
    assert [row[3:] for row in rows(home, VALUES)] == [
        (1.5, None),
        (None, '"2026-01-02"'),
        (None, '"1.2.3"'),
        (7.0, None),
        (3.0, None),
        (0.5, None),
        (None, '"1_000"'),
        (None, '"0x10"'),
    ]


@settings(max_examples=300, deadline=None)
@given(st.one_of(st.text(max_size=30), st.floats().map(repr), st.integers().map(str)))
def test_every_cell_becomes_json(cell: str):
    value = json.loads(cell_json(cell))
    if isinstance(value, str):
        assert value == cell or json.loads(cell) == value
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        number = float(cell.strip().strip('"'))
        assert number == float(value) or math.isnan(number)


def test_a_header_wider_and_rows_longer_than_a_read_block(tmp_path: Path):
    names = [f"metric/{i:05d}" for i in range(3000)]
    body = "".join(",".join([str(step), *(f"{i + step}.25" for i in range(3000))]) + "\n" for step in range(3))
    write(tmp_path / "wide.csv", ",".join(["_step", *names]) + "\n" + body)
    write(tmp_path / "long.csv", '_step,t\n0,"' + "x" * 20_000_000 + '"\n1,y\n')
    home = ingested(tmp_path, tmp_path / "wide.csv", tmp_path / "long.csv")
    assert rows(home, "select count(*), sum(value) from history_values where metric like 'metric/%'") == [
        (9000, sum(i + s + 0.25 for i in range(3000) for s in range(3)))
    ]
    assert rows(home, "select row_idx, length(value_text) from history_values where metric = 't' order by 1") == [
        (0, 20_000_002),
        (1, 3),
    ]


def chart(axis: str, series: list[str], *lines: list[str]) -> str:
    """A chart export as W&B writes it, every cell quoted; three cells a series, its value, MIN and MAX."""
    header = [axis, *(f"{name}{bound}" for name in series for bound in ("", "__MIN", "__MAX"))]
    return "".join(",".join(f'"{cell}"' for cell in line) + "\n" for line in [header, *lines])


CHART_LOSS = chart(
    "Step",
    ["grpo - a - train/loss", "sft - train/loss"],
    ["0", "0.5", "0.5", "0.5", "", "", ""],
    ["2", "0.4", "0.3", "0.5", "0.9", "0.9", "0.9"],
)
CHART_SCORES = chart("Step", ["grpo - a - scores"], ["1", "0.1", "0.1", "0.1"], ["2", "NaN", "NaN", "NaN"])


def test_chart_exports_of_a_folder_are_one_log_a_label(tmp_path: Path):
    write(tmp_path / "c" / "wandb_export_1.csv", CHART_LOSS)
    one = write(tmp_path / "c" / "wandb_export_2.csv", CHART_SCORES)
    home = ingested(tmp_path, one)  # brings the other chart of its folder
    logs = rows(home, "select run_id, run_name, history_row_count, source_kind from history_logs order by 1")
    assert logs == [("grpo - a", "grpo - a", 3, "export"), ("sft", "sft", 1, "export")]
    values = rows(
        home,
        """select run_id, step, metric, value from history_values join history_rows using (source_name, row_idx)
           join history_logs using (source_name) where metric <> '_step' order by all""",
    )
    assert math.isnan(values.pop(4)[3])
    assert values == [
        ("grpo - a", 0, "train/loss", 0.5),
        ("grpo - a", 1, "scores", 0.1),
        ("grpo - a", 2, "__MAX/train/loss", 0.5),
        ("grpo - a", 2, "__MIN/train/loss", 0.3),
        ("grpo - a", 2, "train/loss", 0.4),
        ("sft", 2, "train/loss", 0.9),
    ]
    before = everything(home)
    ingest_wandb(home, [str(tmp_path / "c")], workers=1)
    assert everything(home) == before


def test_a_chart_over_another_axis_keeps_the_axis_as_a_metric(tmp_path: Path):
    text = chart("global_step", ["r - scores", "r - _step"], ["16", "1", "1", "1", "3", "3", "3"])
    home = ingested(tmp_path, write(tmp_path / "c" / "chart.csv", text))
    assert rows(home, VALUES) == [(0, "global_step", None, 16.0, None), (0, "scores", None, 1.0, None)]
    assert rows(home, "select step from history_rows") == [(3,)]


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
