"""Readers of native metrics and teacher calls: real rows, every shape of usage, bad lines."""

import json
from pathlib import Path

import pytest

from ingest.teacher_calls.logs import ingest_teacher_calls
from ingest.verl.file_logger import ingest_native_metrics
from tests.python.support.command import DATA
from tests.python.support.round_landing import Landing, write


@pytest.fixture
def landing(home: Path) -> Landing:
    return Landing(home)


def test_judge_calls_of_public_rows_are_one_row_each(landing: Landing) -> None:
    outcome = landing.ingest(ingest_teacher_calls, DATA / "teacher")
    assert outcome.rows["teacher_call_records"] == 5
    columns = "line_number, judge_idx, response_model, input_tokens, output_tokens, input_cached_tokens, cost_usd"
    # Read off the file with a JSON viewer: the judge's usage, not the student's 40, 45, 56, 49 and 41.
    assert landing.rows(f"select {columns} from landed order by 1", "teacher_call_records") == [
        (line, 0, "gpt-4o-2024-08-06", tokens, out, 0, None)
        for line, tokens, out in ((1, 527, 29), (2, 535, 58), (3, 564, 40), (4, 524, 46), (5, 527, 47))
    ]
    ((line, created),) = landing.rows(
        "select line_json, response_created_at from landed where line_number = 1", "teacher_call_records"
    )
    (file,) = (DATA / "teacher").glob("*.jsonl")
    assert line == file.read_text().splitlines()[0]
    assert created.isoformat() == "2025-09-08T21:17:31"


def test_a_public_line_of_native_metrics(landing: Landing) -> None:
    with open(DATA / "verl" / "file-logger.jsonl") as handle:
        data = json.loads(handle.read())["data"]
    landing.ingest(ingest_native_metrics, DATA / "verl")
    assert landing.rows("select metric, value from landed order by 1", "history_values") == sorted(data.items())
    assert landing.rows("select producer, run_id, run_name, launch_name from landed", "history_logs") == [
        ("verl", "file-logger", "file-logger", None)
    ]


def test_the_run_of_native_metrics(landing: Landing, tmp_path: Path) -> None:
    line = {"step": 1, "data": {"m": 1}}
    write(tmp_path / "run" / "verl_metrics" / "distillation" / "rounds.before_b1.jsonl", line)
    alone = write(tmp_path / "alone" / "sft.before_x.jsonl", line)
    assert landing.ingest(ingest_native_metrics, tmp_path / "run").landed == 1
    assert landing.ingest(ingest_native_metrics, alone).landed == 1
    columns = "run_id, project, run_name, launch_name, history_row_count"
    assert landing.rows(f"select {columns} from landed order by 1", "history_logs") == [
        ("run", "distillation", "rounds", "b1", 1),
        ("sft", "alone", "sft", "x", 1),
    ]
    assert landing.ingest(ingest_native_metrics, alone, "named").landed == 1
    assert landing.ingest(ingest_native_metrics, alone, "named").landed == 0
    assert landing.rows("select run_id from landed order by 1", "history_logs") == [("named",), ("run",)]


def test_native_values_of_every_type(landing: Landing, tmp_path: Path) -> None:
    values = (
        '{"int": 3, "float": 0.5, "null": null, "text": "a", "yes": true, "list": [1, 2], "nan": NaN, "big": 1e999, '
        '"exact": 9007199254740993, "nested": {"a": {"b": 1}}}'
    )
    path = write(
        tmp_path / "a.jsonl",
        f'{{"step": 1, "data": {values}, "extra": {{"k": 1}}}}',
        '{"step": 1.0, "data": {}}',
        '{"step": "1", "data": {}}',
        '{"step": 1, "data": []}',
        '{"step": 1, "data": {"tor',
    )
    landing.ingest(ingest_native_metrics, path)
    rows = landing.rows("select metric, cast(value as varchar), value_text from landed", "history_values")
    assert set(rows) == {
        ("int", "3.0", None),
        ("float", "0.5", None),
        ("null", None, None),
        ("text", None, '"a"'),
        ("yes", None, "true"),
        ("list", None, "[1,2]"),
        ("exact", "9007199254740992.0", "9007199254740993"),
        ("nested.a.b", "1.0", None),
        ("_extra.k", "1.0", None),
        ("nan", "nan", None),
        ("big", "inf", None),
    }
    assert landing.rows("select row_idx, record_number, step from landed order by 1", "history_rows") == [
        (0, 1, 1),
        (1, 2, 1),
    ]
    assert [locator for locator, _ in landing.quarantined()] == ["line 3", "line 4", "line 5"]


def test_a_bare_response_counts_only_where_no_judge_call_is_nested(landing: Landing, tmp_path: Path) -> None:
    usage = {"usage": {"prompt_tokens": 5, "completion_tokens_details": {"reasoning_tokens": 2}, "cost": 0.5}}
    nested = {"response": {"id": "j", **usage}, "model": "judge", "step": 9}
    path = write(
        tmp_path / "teacher.jsonl",
        {"call_id": "a", "step": 1, "model": "m", "response": {"id": "b"}, "judge_evaluations": [nested, nested]},
        {"call_id": "c", "response": usage, "judge_evaluations": []},
        {"call_id": "d", "response": usage, "judge_evaluations": [{"verdict": 1}]},
        {"call_id": "e", "usage": {"input_tokens": 7, "output_tokens": -1}, "cost_usd": 0.0},
        {"call_id": "f", "step": 1, "role": "r", "judge_evaluations": [{"response": None}, "text"]},
        {"call_id": "g", "response": {"usage": None, "created": 1.0}, "created_at": "2026-09-08T12:00:00Z"},
        {"question": "?"},
        '{"call_id": "torn',
    )
    landing.ingest(ingest_teacher_calls, path)
    columns = """line_number, judge_idx, call_id, response_id, step, role, model, has_usage, input_tokens,
        prompt_tokens, output_tokens, completion_reasoning_tokens, cost_usd, usage_cost"""
    assert landing.rows(f"select {columns} from landed order by 1, 2", "teacher_call_records") == [
        (1, 0, None, "j", 9, None, "judge", True, None, 5, None, 2, None, 0.5),
        (1, 1, None, "j", 9, None, "judge", True, None, 5, None, 2, None, 0.5),
        (2, None, "c", None, None, None, None, True, None, 5, None, 2, None, 0.5),
        (3, None, "d", None, None, None, None, True, None, 5, None, 2, None, 0.5),
        (4, None, "e", None, None, None, None, True, 7, None, -1, None, 0.0, None),
        (5, 0, None, None, 1, "r", None, False, None, None, None, None, None, None),
        (6, None, "g", None, None, None, None, False, None, None, None, None, None, None),
    ]
    rest = landing.rows("select line_number, judge_idx, line_json from landed", "teacher_call_records")
    upstream = path.read_text().splitlines()
    assert {(number, line) for number, judge_idx, line in rest if not judge_idx} == {
        (number, upstream[number - 1]) for number in range(1, 7)
    }
    assert [line for _, judge_idx, line in rest if judge_idx] == [None]
    assert [locator for locator, _ in landing.quarantined()] == ["line 7", "line 8"]


def test_a_ledger_is_known_by_its_name(landing: Landing, tmp_path: Path) -> None:
    row = {"step": 1, "role": "rubric", "model": "m", "cost_usd": None, "calls": 5}
    write(tmp_path / "run" / "rollout" / "r" / "teacher_spend.jsonl", row, "torn")
    landing.ingest(ingest_teacher_calls, tmp_path)
    columns = "run_in_path, step, role, model, cost_usd, other_json"
    assert landing.rows(f"select {columns} from landed", "teacher_spend") == [
        ("r", 1, "rubric", "m", None, '{"calls":5}')
    ]
    assert landing.quarantined()[0][0] == "line 2"
