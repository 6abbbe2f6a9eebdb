"""Readers of rounds, native metrics and teacher calls: real rows, bad input, what is kept and what is not."""

import json
from pathlib import Path

import duckdb
import pytest

from ingest.native_metrics import ingest_native_metrics
from ingest.rounds import ingest_rounds
from ingest.teacher_calls import ingest_teacher_calls
from tests.python.conftest import DATA
from warehouse.errors import SourceError
from warehouse.home import Home, open_home


class Landing:
    """A fresh home and what has landed in it."""

    def __init__(self, path: Path):
        self.path = path

    def ingest(self, ingest, path: Path, *arguments: object):
        with open_home(self.path) as opened:
            return ingest(opened, [str(path)], *arguments)

    def rows(self, sql: str, table: str) -> list[tuple]:
        folder = Home(self.path).table(table)
        return duckdb.sql(f"with landed as (from '{folder}/*.parquet') {sql}").fetchall()

    def quarantined(self) -> list[tuple]:
        return self.rows("select locator, reason from landed order by 1, 2", "quarantine")


@pytest.fixture
def landing(home: Path) -> Landing:
    return Landing(home)


def write(path: Path, *lines: str | bytes | dict) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    parts = [json.dumps(line) if isinstance(line, dict) else line for line in lines]
    path.write_bytes(b"\n".join(p if isinstance(p, bytes) else p.encode("utf-8", "surrogatepass") for p in parts))
    return path


def siblings(folder: Path, *lines: str | bytes | dict) -> Path:
    return write(folder / "run" / "rollout" / "run" / "round_3" / "siblings.jsonl", *lines)


PLACE = {"group_id": "g", "sibling_index": 0}


def test_judge_calls_of_public_rows_are_one_row_each(landing: Landing) -> None:
    outcome = landing.ingest(ingest_teacher_calls, DATA / "teacher")
    assert outcome.rows["teacher_call_records"] == 5
    columns = "line_number, judge_idx, response_model, input_tokens, output_tokens, input_cached_tokens, cost_usd"
    # Read off the file with a JSON viewer: the judge's usage, not the student's 40, 45, 56, 49 and 41.
    assert landing.rows(f"select {columns} from landed order by 1", "teacher_call_records") == [
        (line, 0, "gpt-4o-2024-08-06", tokens, out, 0, None)
        for line, tokens, out in ((1, 527, 29), (2, 535, 58), (3, 564, 40), (4, 524, 46), (5, 527, 47))
    ]
    ((row, other, created),) = landing.rows(
        "select row_json, other_json, response_created_at from landed where line_number = 1", "teacher_call_records"
    )
    assert json.loads(row)["response"]["usage"]["input_tokens"] == 40
    assert json.loads(other) == {"verdict_label": "[[A=B]]"}
    assert created.isoformat() == "2025-09-08T21:17:31"


def test_a_public_line_of_native_metrics(landing: Landing) -> None:
    with open(DATA / "verl" / "file-logger.jsonl") as handle:
        data = json.loads(handle.read())["data"]
    landing.ingest(ingest_native_metrics, DATA / "verl")
    assert landing.rows("select metric, value from landed order by 1", "native_values") == sorted(data.items())
    assert landing.rows("select run_id, experiment, segment_name from landed", "native_files") == [
        ("file-logger", "file-logger", None)
    ]


def test_the_run_of_native_metrics(landing: Landing, tmp_path: Path) -> None:
    line = {"step": 1, "data": {"m": 1}}
    write(tmp_path / "run" / "verl_metrics" / "distillation" / "rounds.before_b1.jsonl", line)
    alone = write(tmp_path / "alone" / "sft.before_x.jsonl", line)
    assert landing.ingest(ingest_native_metrics, tmp_path / "run").landed == 1
    assert landing.ingest(ingest_native_metrics, alone).landed == 1
    columns = "run_id, project, experiment, segment_name, file_name"
    assert landing.rows(f"select {columns} from landed order by 1", "native_files") == [
        ("run", "distillation", "rounds", "b1", "rounds.before_b1.jsonl"),
        ("sft", "alone", "sft", "x", "sft.before_x.jsonl"),
    ]
    assert landing.ingest(ingest_native_metrics, alone, "named").landed == 1
    assert landing.ingest(ingest_native_metrics, alone, "named").landed == 0
    assert landing.rows("select run_id from landed order by 1", "native_files") == [("named",), ("run",)]


def test_native_values_of_every_type(landing: Landing, tmp_path: Path) -> None:
    values = (
        '{"int": 3, "float": 0.5, "null": null, "text": "a", "yes": true, "list": [1, 2], "nan": NaN, "big": 1e999}'
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
    rows = landing.rows("select metric, cast(value as varchar), value_text from landed", "native_values")
    assert set(rows) == {
        ("int", "3.0", None),
        ("float", "0.5", None),
        ("null", None, None),
        ("text", None, '"a"'),
        ("yes", None, "true"),
        ("list", None, "[1,2]"),
        ("nan", "nan", None),
        ("big", "inf", None),
    }
    assert landing.rows("select step, metric_count, other_json from landed order by 2", "native_rows") == [
        (1, 0, None),
        (1, 8, '{"extra":{"k":1}}'),
    ]
    assert [locator for locator, _ in landing.quarantined()] == ["line 3", "line 4", "line 5"]


def test_candidates_that_can_not_be_read_are_quarantined_with_their_line(landing: Landing, tmp_path: Path) -> None:
    siblings(
        tmp_path,
        PLACE | {"reward": 1},
        "",
        "[1, 2]",
        '{"group_id": "g", "sibling_index": 1, "rew',
        {"group_id": "g"},
        {"group_id": "", "sibling_index": 1},
        {"group_id": "g", "sibling_index": True},
        b'{"group_id": "g", "sibling_index": 2, "task": "\xff"}',
        PLACE | {"sibling_index": 3},
    )
    landing.ingest(ingest_rounds, tmp_path)
    assert landing.rows("select line_number from landed order by 1", "rounds_candidates") == [(1,), (9,)]
    found = dict(landing.quarantined())
    assert found.keys() == {f"line {n}" for n in (3, 4, 5, 6, 7, 8)}
    assert found["line 3"] == "not a JSON object but array"
    assert found["line 4"].startswith("not JSON")
    assert found["line 5"] == "a candidate without sibling_index"
    assert found["line 6"] == "a candidate without group_id"
    assert found["line 8"] == "not UTF-8 text"


def test_what_is_no_declared_type_stays_in_other_json(landing: Landing, tmp_path: Path) -> None:
    odd = {"reward": "high", "valid": 1, "step": 2.5, "task": ["a"], "debug_streak": None, "code_sha256": 7}
    siblings(tmp_path, PLACE | odd | {"unknown": {"deep": [1, None]}})
    landing.ingest(ingest_rounds, tmp_path)
    columns = "reward, is_valid, step, task, debug_streak, code_sha256, other_json"
    ((*typed, other),) = landing.rows(f"select {columns} from landed", "rounds_candidates")
    assert typed == [None, None, None, None, None, "7"]
    assert json.loads(other) == {
        "reward": "high",
        "valid": 1,
        "step": 2.5,
        "task": ["a"],
        "unknown": {"deep": [1, None]},
    }


def test_lines_that_only_a_tolerant_parser_reads(landing: Landing, tmp_path: Path) -> None:
    siblings(
        tmp_path,
        '{"group_id": "g", "sibling_index": 0, "reward": NaN, "odd": [1e999]}',
        '{"group_id": "g", "sibling_index": 1, "response_text": "half \\ud800 pair"}',
        '{"group_id": "g", "sibling_index": 2, "huge": 123456789012345678901234567890}',
    )
    landing.ingest(ingest_rounds, tmp_path)
    columns = "sibling_index, cast(reward as varchar), response_text, other_json"
    assert landing.rows(f"select {columns} from landed order by 1", "rounds_candidates") == [
        (0, "nan", None, '{"odd":[Infinity]}'),
        (1, None, "half \\ud800 pair", None),
        (2, None, None, '{"huge":123456789012345678901234567890}'),
    ]


def test_token_arrays_land_only_where_they_are_asked_for(landing: Landing, tmp_path: Path) -> None:
    siblings(tmp_path, PLACE | {"response_logprobs": [-0.5], "input_ids": [1], "kept": {"input_ids": [2]}})
    other = "select other_json from landed"
    landing.ingest(ingest_rounds, tmp_path)
    assert landing.rows(other, "rounds_candidates") == [('{"kept":{"input_ids":[2]}}',)]
    assert landing.ingest(ingest_rounds, tmp_path, True).landed == 1
    ((text,),) = landing.rows(other, "rounds_candidates")
    assert json.loads(text) == {"response_logprobs": [-0.5], "input_ids": [1], "kept": {"input_ids": [2]}}


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ({"created_at": "2026-09-08T12:00:00+02:00"}, "2026-09-08 10:00:00"),
        ({"created_at": "2026-09-08 12:00:00"}, "2026-09-08 12:00:00"),
        ({"timestamp": 1_788_868_800}, "2026-09-08 12:00:00"),
        ({"timestamp": "soon", "exec_started_at": 1_788_868_800.5}, "2026-09-08 12:00:00.5"),
        ({"timestamp": 1e30}, None),
        ({"timestamp": True}, None),
    ],
)
def test_times_are_read_as_utc(landing: Landing, tmp_path: Path, written: dict, read: str | None) -> None:
    siblings(tmp_path, PLACE | written)
    landing.ingest(ingest_rounds, tmp_path)
    assert landing.rows("select cast(recorded_at as varchar) from landed", "rounds_candidates") == [(read,)]


def test_a_round_and_its_attempt_are_read_off_the_folder(landing: Landing, tmp_path: Path) -> None:
    for name in ("round_5", "round_5.attempt1", "round_5.backup"):
        write(tmp_path / "run" / "rollout" / "r" / name / "siblings.jsonl", PLACE)
    landing.ingest(ingest_rounds, tmp_path)
    columns = "run_in_path, round_in_path, attempt_in_path"
    assert landing.rows(f"select {columns} from landed order by 3, 2 nulls last", "rounds_files") == [
        ("r", 5, 1),
        ("r", 5, None),
        (None, None, None),
    ]


def test_costs_by_role_and_results_are_taken_apart(landing: Landing, tmp_path: Path) -> None:
    result = {"score": 0.5, "outcome": "ok", "error": None}
    costs = {"rubric": 0.25, "verifier": None, "odd": "x"}
    siblings(tmp_path, PLACE | {"result": result, "parent_result": {"outcome": "seeded"}, "cost_by_role": costs})
    landing.ingest(ingest_rounds, tmp_path)
    assert landing.rows("select role, cost_usd from landed order by 1", "rounds_candidate_costs") == [
        ("odd", None),
        ("rubric", 0.25),
        ("verifier", None),
    ]
    columns = "outcome, score, parent_outcome, parent_score, result_json"
    assert landing.rows(f"select {columns} from landed", "rounds_candidates") == [
        ("ok", 0.5, "seeded", None, '{"score":0.5,"outcome":"ok","error":null}')
    ]
    seen = landing.rows(
        "select field, json_type from landed where field like 'result%' order by all", "observed_fields"
    )
    assert seen == [
        ("result", "object"),
        ("result.error", "null"),
        ("result.outcome", "string"),
        ("result.score", "number"),
    ]


def test_evaluation_files(landing: Landing, tmp_path: Path) -> None:
    attempt = {"task": "t", "chain": 1, "attempt": 0, "valid": True, "score": 0.5, "outcome": "ok", "extra": 1}
    write(tmp_path / "run" / "eval_sft.json", json.dumps([attempt, 7, attempt | {"policy": "named"}]))
    write(tmp_path / "run" / "stages" / "eval_torn.json", '[{"task": "t"')
    write(tmp_path / "run" / "eval_odd.json", '{"task": "t"}')
    landing.ingest(ingest_rounds, tmp_path)
    columns = "entry_number, run_in_path, policy, chain, attempt, is_valid, score, other_json"
    assert landing.rows(f"select {columns} from landed order by 1", "rounds_evaluation_attempts") == [
        (1, "run", "sft", "1", 0, True, 0.5, '{"extra":1}'),
        (3, "run", "named", "1", 0, True, 0.5, '{"extra":1}'),
    ]
    reasons = [reason for _, reason in landing.quarantined()]
    assert reasons[0] == "entry 2 of the list is not a JSON object"
    assert reasons[1:] == [
        "not JSON (Expecting ',' delimiter: line 1 column 14 (char 13))",
        "not a JSON list of attempts",
    ]


def test_a_saved_step_that_changes_lands_again(landing: Landing, tmp_path: Path) -> None:
    step = tmp_path / "run" / "checkpoints" / "global_step_12"
    write(step / "lora_adapter" / "adapter_config.json", {"r": 32, "lora_alpha": 64})
    write(step / "lora_adapter" / "adapter_model.safetensors", b"weights")
    write(step / "optim.pt", b"state")
    assert landing.ingest(ingest_rounds, tmp_path).landed == 1
    assert landing.ingest(ingest_rounds, tmp_path).landed == 0
    columns = "run_in_path, step, path, size_bytes, left(sha256, 8), lora_rank, lora_alpha"
    rows = landing.rows(f"select {columns} from landed order by path", "rounds_saved_step_files")
    # sha256sum of the text `weights`: 9a129965...
    import hashlib

    weights = hashlib.sha256(b"weights").hexdigest()[:8]
    assert rows[1:] == [
        ("run", 12, "lora_adapter/adapter_model.safetensors", 7, weights, None, None),
        ("run", 12, "optim.pt", 5, None, None, None),
    ]
    assert rows[0][5:] == (32, 64.0)
    write(step / "lora_adapter" / "adapter_model.safetensors", b"Weights")
    assert landing.ingest(ingest_rounds, tmp_path).landed == 1
    write(step / "lora_adapter" / "adapter_config.json", '{"r": 32,')
    landing.ingest(ingest_rounds, tmp_path)
    assert landing.quarantined()[0][1].startswith("lora_adapter/adapter_config.json: not JSON")


@pytest.mark.parametrize(
    ("name", "content", "count"),
    [
        ("system_metrics.json", '[{"a": 1}, {"a": 2}]', 2),
        ("system_metrics.json", "[]", 0),
        ("system_metrics.jsonl", '{"a": 1}\n{"a": 2}\n{"b": 3}\n', 3),
        ("system_metrics.csv", "a,b\n1,2\n", 1),
        (None, "", None),
    ],
)
def test_returned_system_records_are_counted(
    landing: Landing, tmp_path: Path, name: str | None, content: str, count: int | None
) -> None:
    export = tmp_path / "run" / "wandb_export" / "named"
    write(export / "run.json", {"id": "abc", "counters": {"eventsLineCount": 9}, "tags": ["x"]})
    if name:
        write(export / name, content)
    landing.ingest(ingest_rounds, tmp_path)
    columns = "export_name, run_in_path, run_id, system_row_count"
    assert landing.rows(f"select {columns} from landed", "rounds_tracker_exports") == [("named", "run", "abc", count)]
    assert landing.rows("select field, value, value_text from landed order by 1", "rounds_tracker_fields") == [
        ("counters.eventsLineCount", 9.0, "9"),
        ("id", None, '"abc"'),
    ]


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
    rest = landing.rows(
        "select line_number, row_json, other_json from landed where line_number in (1, 3, 5)", "teacher_call_records"
    )
    kept = {(line, row and tuple(json.loads(row)), other) for line, row, other in rest}
    assert kept == {
        (1, ("call_id", "step", "model", "response"), None),
        (1, None, None),
        (3, None, '{"judge_evaluations":[{"verdict":1}]}'),
        (5, ("call_id", "step", "role", "judge_evaluations"), None),
    }
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


@pytest.mark.parametrize("ingest", [ingest_rounds, ingest_native_metrics, ingest_teacher_calls])
def test_nothing_to_ingest_is_an_error(landing: Landing, tmp_path: Path, ingest) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(SourceError, match="nothing to ingest; looked for"):
        landing.ingest(ingest, tmp_path / "empty")
    with pytest.raises(SourceError, match="no such file or folder"):
        landing.ingest(ingest, tmp_path / "absent")
