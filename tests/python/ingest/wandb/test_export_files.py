"""What lands of an exported W&B history: CSV, JSON, charts, and broken ones."""

import json
import math
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from homes.errors import SourceError
from homes.paths import Home
from ingest.wandb.csv_items import cell_json
from ingest.wandb.files import ingest_wandb
from tests.python.support.landed import everything, rows
from tests.python.support.wandb.exports import CHART_LOSS, CHART_SCORES, RUN, VALUES, chart, ingested, write

HISTORY = '''_step,_timestamp,_runtime,scores,note,h,nest,big,flag
0,1795995180.5,0.5,0.25,hello,"{""_type"": ""histogram""}","{""a"": 1, ""b"": {""c"": NaN}}",9007199254740993,True
1,1795995181.5,1.5,NaN,,,,5,False
2,1795995182.5,2.5,-Infinity,"""1""",,,,
3,1795995183.5,3.5,oops,,,,,
4,1795995184.5,4.5,1e-300,"",,,,
'''


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
