"""The turn models on rollouts spelled out by hand."""

import math
from datetime import datetime, timedelta

import pytest

from tests.python.support.models import Models
from tests.python.support.planted_rollouts import (
    END,
    OPEN,
    QWEN,
    SPLIT_COLUMNS,
    START,
    curve,
    findings,
    merged,
    metadata,
    record,
    response,
    shard,
)


def test_an_empty_response_is_one_token_in_one_segment(turn_models: Models) -> None:
    turn_models.run(merged(shard("r", [record(0, 0, [END], [math.nan])]), metadata("r")))
    assert turn_models.rows(f"select {SPLIT_COLUMNS} from rollouts") == [(1, 0, 0, 1, 0, 0, 0, False, 1)]


def test_a_record_without_a_logprob_for_every_token_is_not_split(turn_models: Models) -> None:
    whole = response(5, "<", 3, ">", -20, 4)
    turn_models.run(
        merged(
            shard(
                "r",
                [
                    record(0, 0, whole["tokens"], whole["logprobs"][:-1], calls=1),
                    record(0, 1, whole["tokens"], [*whole["logprobs"], -1.0], calls=1),
                    record(0, 2, calls=1) | {"logprobs": None},
                    record(0, 3, **whole, calls=1),
                ],
            ),
            metadata("r"),
        )
    )
    assert turn_models.rows(f"select {SPLIT_COLUMNS} from rollouts order by sample_idx") == [
        *[(None,) * 9] * 3,
        (14, 20, 1, 2, 5, 1, 0, False, 9),
    ]
    assert turn_models.rows(
        "select n_rollouts, n_split_rollouts, response_tokens_total, num_calls_total, tool_blocks_total, "
        "response_tokens_mean_per_rollout, assistant_tokens_mean_per_rollout, malformed_tool_call_rollouts "
        "from arm_turns"
    ) == [(4, 1, 34, 1, 1, (34 * 3 + 3) / 4, 14.0, 0)]
    assert findings(turn_models)["logprobs_do_not_match_tokens", "/rollouts/r_rollouts_000000.jsonl"].startswith(
        "3 records (first: line 1) "
    )


def test_a_step_adds_up(turn_models: Models) -> None:
    """Three rollouts: 10 + 20 inserted + 6, 5 with a closed call of 3, 8 whose call of 6 is never closed."""
    turn_models.run(
        merged(
            shard(
                "arm__1__1",
                [
                    record(6, 0, **response(10, -20, 6), calls=1),
                    record(6, 1, **response(2, "<", 1, ">"), calls=0),
                    record(6, 2, **response(2, "<", 5), calls=2, finish_reason="length"),
                ],
            ),
            metadata("arm__1__1"),
        )
    )
    names = (
        "arm, training_step, step_idx, n_rollouts, response_tokens_total, assistant_tokens_total, "
        "assistant_segments_total, tool_output_tokens_total, tool_blocks_total, num_calls_total, "
        "assistant_tool_call_tokens_total, assistant_non_tool_call_tokens_total, assistant_tool_call_spans_total, "
        "malformed_tool_call_rollouts"
    )
    assert turn_models.rows(f"select {names} from arm_turns") == [("arm", 7, 6, 3, 49, 29, 4, 20, 1, 3, 9, 20, 2, 1)]
    assert turn_models.rows(
        "select assistant_tokens_per_turn, assistant_tokens_mean_per_rollout, assistant_segments_mean_per_rollout, "
        "tool_output_tokens_mean_per_rollout, tool_token_fraction, mean_tool_call_length_tokens, "
        "mean_closed_tool_call_length_tokens, response_tokens_mean_per_rollout from arm_turns"
    ) == [(29 / 4, 29 / 3, 4 / 3, 20 / 3, 20 / 49, 4.5, 3.0, 49 / 3)]
    assert turn_models.rows("select * exclude (arm) from malformed_tool_calls") == [(1, 50, 3, 1, 1 / 3, 0)]


def test_of_records_with_one_key_the_first_file_and_line_stands(turn_models: Models) -> None:
    first, other, third = record(0, 0, reward=0.25), record(0, 0, reward=0.5), record(0, 1)
    turn_models.run(
        merged(
            shard("r", [other, third], number=1),
            shard("r", [first, first, other, record(0, 2)], number=0, folder="/b"),
            shard("r", [first], number=0, folder="/c"),
            metadata("r"),
        )
    )
    assert turn_models.rows(
        "select sample_idx, reward, record_count, conflicting_record_count from rollouts order by sample_idx"
    ) == [(0, 0.25, 5, 2), (1, 1.0, 1, 0), (2, 1.0, 1, 0)]
    assert turn_models.rows(
        "select source_name, line_number, drop_reason from rollout_records where drop_reason is not null order by all"
    ) == [
        ("/b/r_rollouts_000000.jsonl", 2, "duplicate_record"),
        ("/b/r_rollouts_000000.jsonl", 3, "conflicting_record"),
        ("/c/r_rollouts_000000.jsonl", 1, "duplicate_record"),
        ("/rollouts/r_rollouts_000001.jsonl", 1, "conflicting_record"),
    ]
    assert sorted(turn_models.rows("select rollout_number from rollouts")) == [(1,), (2,), (3,)]
    told = findings(turn_models)
    assert told["conflicting_rollouts", "/b/r_rollouts_000000.jsonl"].startswith("1 records (first: line 3) ")
    assert told["repeated_rollouts", "/b/r_rollouts_000000.jsonl"].startswith("1 records (first: line 2) ")
    assert ("repeated_rollouts", "/rollouts/r_rollouts_000001.jsonl") not in told
    severities = turn_models.rows(
        "select kind, severity from rollout_findings where kind like '%ed_rollouts' or kind like 'con%'"
    )
    assert set(severities) == {("conflicting_rollouts", "warn"), ("repeated_rollouts", "info")}


def test_tool_calls_are_unknown_where_the_tokenizer_is(turn_models: Models) -> None:
    """Known; no row; no model; declared after the shard was read; one of two shards read before."""
    call = [record(0, 0, **response(2, "<", 1, ">"))]
    later = [record(0, 1, **response(2, "<", 1, ">"))]
    turn_models.run(
        merged(
            *(shard("known", call), metadata("known")),
            *(shard("other", call), metadata("other", "meta/Llama-4")),
            *(shard("nameless", call), metadata("nameless", None)),
            *(shard("late", call, special_ids=[END]), metadata("late")),
            *(shard("half", call), shard("half", later, number=1, special_ids=[END, OPEN]), metadata("half")),
            shard("without", call),
        )
    )
    rows = turn_models.rows(
        "select run_name, tool_call_tokens, assistant_tokens from rollouts order by run_name, sample_idx"
    )
    assert rows == [
        ("half", None, 5),
        ("half", None, 5),
        ("known", 3, 5),
        ("late", None, 5),
        ("nameless", None, 5),
        ("other", None, 5),
        ("without", None, 5),
    ]
    details = {
        subject: detail for (kind, subject), detail in findings(turn_models).items() if kind == "unknown_tokenizer"
    }
    assert details.keys() == {"half", "late", "nameless", "other", "without"}
    assert "no row for meta/Llama-4" in details["other"]
    assert "names no model" in details["nameless"] and "names no model" in details["without"]
    assert "after the shards were read" in details["late"]
    assert turn_models.rows(
        "select arm, assistant_tool_call_tokens_total, malformed_tool_call_rollouts, assistant_tokens_total "
        "from arm_turns where arm in ('known', 'late') order by arm"
    ) == [("known", 3, 0, 5), ("late", None, None, 5)]


def test_of_an_arm_with_a_known_and_an_unknown_tokenizer_calls_are_unknown(turn_models: Models) -> None:
    call = response(2, "<", 1, ">")
    turn_models.run(
        merged(
            *(shard("a__1__1", [record(0, 0, **call)]), metadata("a__1__1", started_at=START)),
            *(shard("a__1__2", [record(0, 1, **call)]), metadata("a__1__2", "x", started_at=START + timedelta(days=1))),
            *(
                shard("a__1__0", [record(1, 0, **call), record(2, 0, **call)]),
                metadata("a__1__0", started_at=datetime(2025, 1, 1)),
            ),
        )
    )
    assert turn_models.rows(
        "select step_idx, assistant_tokens_total, assistant_tool_call_tokens_total, assistant_tool_call_spans_total, "
        "assistant_non_tool_call_tokens_total, mean_tool_call_length_tokens, malformed_tool_call_rollouts "
        "from arm_turns"
    ) == [(0, 5, None, None, None, None, None)]


def test_the_longest_pattern_names_the_tokenizer(turn_models: Models) -> None:
    longer = QWEN | {"model_pattern": "*Qwen3.5-9B", "tool_call_open_id": 7, "tool_call_close_id": 8}
    turn_models.run(
        merged(shard("r", [record(0, 0, [1, 7, 2, 8, 3])], special_ids=[7, 8]), metadata("r"), {"tokenizers": [longer]})
    )
    assert turn_models.rows("select tool_call_tokens from rollouts") == [(3,)]


def test_an_arm_is_declared_or_that_of_the_wandb_run_or_in_the_name(turn_models: Models) -> None:
    one = [record(0, 0)]
    turn_models.run(
        merged(
            shard("exp__42__1789453662", one),
            shard("plain", one),
            shard("logged__1__5", one),
            shard("twice", one),
            shard("moved__1__7", one),
            curve("arm of the log", 3, "logged__1__5"),
            curve("first", 1, "twice"),
            *[
                {
                    k: [r | ({"run_id": "other"} if "run_id" in r else {}) for r in v]
                    for k, v in curve("second", 1, "twice").items()
                }
            ],
            {"arm_assignments": [{"run_id": "moved__1__7", "arm": "declared {run_name}"}]},
        )
    )
    assert turn_models.rows("select run_name, arm, run_id, started_at from rollout_runs order by run_name") == [
        ("exp__42__1789453662", "exp", None, datetime(2026, 9, 15, 6, 27, 42)),
        ("logged__1__5", "arm of the log", "id of logged__1__5", START),
        ("moved__1__7", "declared moved__1__7", None, datetime(1970, 1, 1, 0, 0, 7)),
        ("plain", "plain", None, None),
        ("twice", "twice", None, None),
    ]


@pytest.mark.parametrize(
    ("exclusion", "excluded"),
    [
        ({"run_id": "a__1__1"}, ["a__1__1"]),
        ({"run_id": "id of b__1__1"}, ["b__1__1"]),
        ({"arm": "a"}, ["a__1__1", "a__1__2"]),
        ({"arm": "a", "run_id": "b__1__1"}, []),
        ({"arm": "a", "logged_until": START + timedelta(hours=1)}, ["a__1__1"]),
        ({"arm": "a", "logged_from": START + timedelta(hours=1)}, ["a__1__2"]),
        ({"arm": "a", "logged_until": START}, []),
        ({}, []),
    ],
)
def test_an_exclusion_names_a_run_or_an_arm_and_may_have_a_window(
    turn_models: Models, exclusion: dict, excluded: list[str]
) -> None:
    one = [record(0, 0)]
    turn_models.run(
        merged(
            *(shard("a__1__1", one), metadata("a__1__1")),
            *(shard("a__1__2", one), metadata("a__1__2", started_at=START + timedelta(hours=1))),
            *(shard("b__1__1", one), curve("b", 3, "b__1__1")),
            {"run_exclusions": [exclusion | {"reason": "test"}]},
        )
    )
    rows = turn_models.rows("select run_name from rollouts where drop_reason = 'excluded' order by run_name")
    assert [name for (name,) in rows] == excluded


def test_a_run_excluded_twice_is_one_run(turn_models: Models) -> None:
    twice = [{"run_id": "a__1__1", "reason": "test"}, {"arm": "a", "reason": "test"}]
    turn_models.run(merged(shard("a__1__1", [record(0, 0)]), metadata("a__1__1"), {"run_exclusions": twice}))
    assert turn_models.rows("select run_name, is_excluded from rollout_runs") == [("a__1__1", True)]
    assert turn_models.rows("select drop_reason from rollouts") == [("excluded",)]


def test_wandb_runs_that_share_name_and_arm_tell_the_arm(turn_models: Models) -> None:
    again = {
        table: [
            row | ({"run_id": "another id"} if "run_id" in row else {}) | {"source_name": "another log"} for row in rows
        ]
        for table, rows in curve("arm", 1, "shared").items()
    }
    turn_models.run(merged(shard("shared", [record(0, 0)]), curve("arm", 1, "shared"), again))
    assert turn_models.rows("select arm, run_id from rollout_runs") == [("arm", "another id")]
