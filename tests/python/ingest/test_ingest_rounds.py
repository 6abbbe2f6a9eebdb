"""Readers of rounds, native metrics and teacher calls: real rows, bad input, what is kept and what is not."""

import json
from pathlib import Path

import pytest

from homes.errors import SourceError
from ingest.rounds.trees import ingest_rounds
from ingest.teacher_calls.logs import ingest_teacher_calls
from ingest.verl.file_logger import ingest_native_metrics
from tests.python.support.round_landing import Landing, write


@pytest.fixture
def landing(home: Path) -> Landing:
    return Landing(home)


def siblings(folder: Path, *lines: str | bytes | dict) -> Path:
    return write(folder / "run" / "rollout" / "run" / "round_3" / "siblings.jsonl", *lines)


PLACE = {"group_id": "g", "sibling_index": 0}


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


def test_what_is_no_declared_type_stays_in_the_line(landing: Landing, tmp_path: Path) -> None:
    odd = {"reward": "high", "valid": 1, "step": 2.5, "task": ["a"], "debug_streak": None, "code_sha256": 7}
    siblings(tmp_path, PLACE | odd | {"unknown": {"deep": [1, None]}})
    landing.ingest(ingest_rounds, tmp_path)
    columns = "reward, is_valid, step, task, debug_streak, code_sha256, line_json"
    ((*typed, line),) = landing.rows(f"select {columns} from landed", "rounds_candidates")
    assert typed == [None, None, None, None, None, "7"]
    assert json.loads(line) == PLACE | odd | {"unknown": {"deep": [1, None]}}


def test_lines_that_only_a_tolerant_parser_reads(landing: Landing, tmp_path: Path) -> None:
    lines = (
        '{"group_id": "g", "sibling_index": 0, "reward": NaN, "odd": [1e999]}',
        '{"group_id": "g", "sibling_index": 1, "response_text": "half \\ud800 pair"}',
        '{"group_id": "g", "sibling_index": 2, "huge": 123456789012345678901234567890}',
    )
    siblings(tmp_path, *lines)
    landing.ingest(ingest_rounds, tmp_path)
    columns = "cast(reward as varchar), response_text, line_json"
    assert landing.rows(f"select {columns} from landed order by sibling_index", "rounds_candidates") == [
        ("nan", None, lines[0]),
        (None, "half \\ud800 pair", lines[1]),
        (None, None, lines[2]),
    ]


def test_token_arrays_land_only_where_they_are_asked_for(landing: Landing, tmp_path: Path) -> None:
    arrays = {"response_logprobs": [-0.5], "input_ids": [1]}
    rest = PLACE | {"chain": 3, "task": None, "kept": {"input_ids": [2]}}
    siblings(tmp_path, rest | arrays)
    columns = "select line_json from landed"
    landing.ingest(ingest_rounds, tmp_path)
    ((text,),) = landing.rows(columns, "rounds_candidates")
    assert json.loads(text) == rest
    assert landing.rows("select has_token_arrays from landed", "rounds_files") == [(False,)]
    assert landing.ingest(ingest_rounds, tmp_path, True).landed == 1
    ((text,),) = landing.rows(columns, "rounds_candidates")
    assert json.loads(text) == rest | arrays
    assert landing.rows("select has_token_arrays from landed", "rounds_files") == [(True,)]


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
    columns = "outcome, score, parent_outcome, parent_score"
    assert landing.rows(f"select {columns} from landed", "rounds_candidates") == [("ok", 0.5, "seeded", None)]
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
    write(tmp_path / "run" / "stages" / "eval_torn.json", '[{"task": "t", "valid":')
    odd = write(tmp_path / "run" / "eval_odd.json", '{"task": "t"}')
    landing.ingest(ingest_rounds, tmp_path)
    landing.ingest(ingest_rounds, odd)
    columns = "entry_number, run_in_path, policy, chain, attempt, is_valid, score, other_json"
    assert landing.rows(f"select {columns} from landed order by 1", "rounds_evaluation_attempts") == [
        (1, "run", "sft", "1", 0, True, 0.5, '{"extra":1}'),
        (3, "run", "named", "1", 0, True, 0.5, '{"extra":1}'),
    ]
    reasons = [reason for _, reason in landing.quarantined()]
    assert reasons[0] == "entry 2 of the list is not a JSON object"
    assert reasons[1:] == [
        "not JSON (Expecting value: line 1 column 24 (char 23))",
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


def test_a_saved_step_with_a_folder_of_checkpoints_inside_is_one_source(landing: Landing, tmp_path: Path) -> None:
    step = tmp_path / "run" / "checkpoints" / "global_step_12"
    write(step / "optim.pt", b"state")
    write(step / "checkpoints" / "teacher" / "optim.pt", b"its state")
    assert landing.ingest(ingest_rounds, tmp_path).landed == 1
    rows = landing.rows("select run_in_path, step, path from landed order by path", "rounds_saved_step_files")
    assert rows == [("run", 12, "checkpoints/teacher/optim.pt"), ("run", 12, "optim.pt")]


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


@pytest.mark.parametrize("ingest", [ingest_rounds, ingest_native_metrics, ingest_teacher_calls])
def test_nothing_to_ingest_is_an_error(landing: Landing, tmp_path: Path, ingest) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(SourceError, match="nothing to ingest; looked for"):
        landing.ingest(ingest, tmp_path / "empty")
    with pytest.raises(SourceError, match="no such file or folder"):
        landing.ingest(ingest, tmp_path / "absent")
