"""Call logs that hold the APIs' own objects, and what only looks like a call log."""

import json
from pathlib import Path

import pytest

from homes.schema import landing_tables
from ingest.teacher_calls.logs import ingest_teacher_calls, matches
from tests.python.support.round_landing import Landing, write
from tests.python.support.round_marts import calls

USAGE = {"prompt_tokens": 1000, "completion_tokens": 100, "total_tokens": 1100}
CHUNK = {"id": "s1", "object": "chat.completion.chunk", "created": 1_780_000_000, "model": "m"}
WHOLE = CHUNK | {"id": "w1", "object": "chat.completion", "choices": [], "usage": USAGE}
POLICY = {
    "responses_create_params": {"input": []},
    "response": {"id": "p", "model": "policy", "usage": {"input_tokens": 5, "output_tokens": 6}},
    "reward": 1.0,
}
JUDGE = {"response": {"id": "j", "model": "judge", "usage": {"input_tokens": 7, "output_tokens": 8}}}


@pytest.fixture
def landing(home: Path) -> Landing:
    return Landing(home)


def standing(landing: Landing, *lines: object) -> list[tuple]:
    """(call, model, output tokens, label) of every row of a log of these lines, in their order."""
    path = write(landing.path.parent / "log.jsonl", *lines)
    landing.ingest(ingest_teacher_calls, path)
    names = landing_tables()["teacher_call_records"].schema.names
    found = landing.rows(f"select {', '.join(names)} from landed", "teacher_call_records")
    models = calls([dict(zip(names, row, strict=True)) | {"source_name": "log"} for row in found])
    columns = "call_id, model, output_tokens, drop_reason"
    return models.rows(f"select {columns} from teacher_call_rows order by line_number, judge_idx")


def test_a_streamed_response_is_one_call_and_one_written_twice_too(landing: Landing) -> None:
    lines = [CHUNK | {"usage": None}, CHUNK | {"choices": [{}]}, CHUNK | {"choices": [], "usage": USAGE}, WHOLE, WHOLE]
    assert standing(landing, *lines) == [
        ("s1", "m", None, "streamed"),
        ("s1", "m", None, "streamed"),
        ("s1", "m", 100, None),
        ("w1", "m", 100, "repeated"),
        ("w1", "m", 100, None),
    ]
    assert landing.quarantined() == []
    assert landing.rows("select distinct response_created_at from landed", "teacher_call_records")[0][0].year == 2026


def test_a_stream_that_counts_as_it_goes_stands_with_its_last_count(landing: Landing) -> None:
    grown = [CHUNK | {"usage": USAGE | {"completion_tokens": n, "total_tokens": 1000 + n}} for n in (1, 50, 90)]
    assert [row[2:] for row in standing(landing, *grown)] == [(1, "streamed"), (50, "streamed"), (90, None)]


def test_events_of_a_responses_stream_are_one_call(landing: Landing) -> None:
    response = {"id": "resp_1", "object": "response", "model": "m", "usage": None}
    done = response | {"usage": {"input_tokens": 5, "output_tokens": 6, "total_tokens": 11}}
    rows = standing(
        landing, {"type": "response.created", "response": response}, {"type": "response.completed", "response": done}
    )
    assert rows == [("resp_1", "m", None, "streamed"), ("resp_1", "m", 6, None)]


def test_pairs_of_messages_and_lines_of_a_batch(landing: Landing) -> None:
    message = {"id": "msg_1", "type": "message", "model": "claude", "usage": {"input_tokens": 3, "output_tokens": 4}}
    nameless = {"id": "n1", "usage": USAGE}
    rows = standing(
        landing,
        {"request": {"url": "/v1", "body": {"model": "asked"}}, "response": {"status": 200, "body": nameless}},
        {"request": {"model": "asked"}, "response": WHOLE},
        {"custom_id": "1", "response": {"status_code": 200, "body": WHOLE | {"id": "b1"}}},
        {"custom_id": "2", "result": {"type": "succeeded", "message": message}},
        {
            "responseId": "g1",
            "modelVersion": "gemini",
            "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 2},
        },
        {
            "id": "l1",
            "response_cost": 0.5,
            "model": "lite",
            "prompt_tokens": 3,
            "completion_tokens": 9,
            "total_tokens": 12,
        },
    )
    assert rows == [
        ("n1", "asked", 100, None),
        ("w1", "m", 100, None),
        ("b1", "m", 100, None),
        ("msg_1", "claude", 4, None),
        ("g1", "gemini", 2, None),
        ("l1", "lite", 9, None),
    ]
    tiers = "select response_id from landed where service_tier = 'batch' order by 1"
    assert landing.rows(tiers, "teacher_call_records") == [("b1",), ("msg_1",)]


def test_a_number_that_counts_lines_names_no_call(landing: Landing) -> None:
    plain = {"model": "m", "usage": USAGE}
    assert [row[0] for row in standing(landing, plain | {"id": 1}, plain | {"id": 2}, plain | {"id": "a"})] == [
        "log:1", "log:2", "log:3"
    ]  # fmt: skip


def test_a_policy_s_own_response_is_no_call_of_a_teacher(landing: Landing) -> None:
    rows = standing(
        landing,
        POLICY | {"judge_evaluations": [JUDGE]},
        POLICY | {"judge_evaluations": None},
        POLICY | {"judge_evaluations": []},
        POLICY | {"judge_evaluations": [{"verdict": 1}]},
        POLICY,
        POLICY | {"judge_evaluations": [JUDGE | {"response": JUDGE["response"] | {"id": "p"}}]},
    )
    assert rows == [
        ("j", "judge", 8, None),
        *[("p", "policy", 6, "policy_response")] * 4,
        ("p", "judge", 8, None),
    ]


@pytest.mark.parametrize(
    ("lines", "is_log"),
    [
        ([WHOLE], True),
        ([{"model": "m", "usage": USAGE}], True),
        ([{"response": WHOLE}], True),
        ([POLICY | {"judge_evaluations": [JUDGE]}], True),
        # The sixth line is the first that tells.
        ([CHUNK | {"usage": None}] * 6 + [CHUNK | {"usage": USAGE}], True),
        ([POLICY | {"judge_evaluations": None}] * 6 + [POLICY | {"judge_evaluations": [JUDGE]}], True),
        ([CHUNK | {"usage": None}] * 6, False),
        ([POLICY], False),
        ([POLICY | {"judge_evaluations": None}], False),
        ([{"model": "m", "usage": USAGE, "reward": 0.5, "completion": "x"}], False),
        ([{"type": "assistant", "sessionId": "s", "message": {"model": "m", "usage": {"input_tokens": 1}}}], False),
        ([{"type": "result", "usage": {"input_tokens": 1}}], False),
        ([{"model": "m", "usage": {"gpu": 1}}], False),
        ([{"event": "x", "note": json.dumps(WHOLE)}], False),
    ],
)
def test_a_call_log_states_usage_and_model_in_one_record(tmp_path: Path, lines: list, is_log: bool) -> None:
    assert matches(write(tmp_path / "some.jsonl", *lines)) is is_log
