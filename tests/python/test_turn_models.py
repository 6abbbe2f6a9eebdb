"""The turn models on rollouts spelled out by hand, and against a token-by-token oracle on rollouts made up."""

import math
from datetime import datetime, timedelta

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.python.models import Models
from tests.python.planted_rollouts import (
    CLOSE,
    END,
    OPEN,
    QWEN,
    START,
    curve,
    merged,
    metadata,
    record,
    response,
    shard,
)
from tests.python.turn_oracle import Attempt, label, split

MARTS = ["rollouts", "arm_turns", "turn_findings", "malformed_tool_calls", "turn_reconciliation", "runs"]
COLUMNS = (
    "assistant_tokens, tool_output_tokens, tool_block_count, assistant_segment_count, tool_call_tokens, "
    "tool_call_span_count, unclosed_tool_call_tokens, is_malformed_tool_call, non_tool_call_tokens"
)
FEW = settings(
    max_examples=40,
    deadline=None,
    derandomize=True,
    phases=[Phase.explicit, Phase.generate, Phase.shrink],
    suppress_health_check=list(HealthCheck),
)


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Models:
    return Models(tmp_path_factory.mktemp("home"), MARTS)


@pytest.fixture(scope="module")
def furthest(tmp_path_factory: pytest.TempPathFactory) -> Models:
    return Models(tmp_path_factory.mktemp("home"), ["rollouts"], {"lineage_choice": "furthest"})


def findings(models: Models) -> dict[tuple[str, str], str]:
    return {
        (kind, subject): detail
        for kind, subject, detail in models.rows("select kind, subject, detail from turn_findings")
    }


def test_an_empty_response_is_one_token_in_one_segment(models: Models) -> None:
    models.run(merged(shard("r", [record(0, 0, [END], [math.nan])]), metadata("r")))
    assert models.rows(f"select {COLUMNS} from rollouts") == [(1, 0, 0, 1, 0, 0, 0, False, 1)]


def test_a_record_without_a_logprob_for_every_token_is_not_split(models: Models) -> None:
    whole = response(5, "<", 3, ">", -20, 4)
    models.run(
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
    assert models.rows(f"select {COLUMNS} from rollouts order by sample_idx") == [
        *[(None,) * 9] * 3,
        (14, 20, 1, 2, 5, 1, 0, False, 9),
    ]
    assert models.rows(
        "select n_rollouts, n_split_rollouts, response_tokens_total, num_calls_total, tool_blocks_total, "
        "response_tokens_mean_per_rollout, assistant_tokens_mean_per_rollout, malformed_tool_call_rollouts "
        "from arm_turns"
    ) == [(4, 1, 34, 1, 1, (34 * 3 + 3) / 4, 14.0, 0)]
    assert findings(models)["logprobs_do_not_match_tokens", "/rollouts/r_rollouts_000000.jsonl"].startswith(
        "3 records (first: line 1) "
    )


def test_a_step_adds_up(models: Models) -> None:
    """Three rollouts: 10 + 20 inserted + 6, 5 with a closed call of 3, 8 whose call of 6 is never closed."""
    models.run(
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
    assert models.rows(f"select {names} from arm_turns") == [("arm", 7, 6, 3, 49, 29, 4, 20, 1, 3, 9, 20, 2, 1)]
    assert models.rows(
        "select assistant_tokens_per_turn, assistant_tokens_mean_per_rollout, assistant_segments_mean_per_rollout, "
        "tool_output_tokens_mean_per_rollout, tool_token_fraction, mean_tool_call_length_tokens, "
        "mean_closed_tool_call_length_tokens, response_tokens_mean_per_rollout from arm_turns"
    ) == [(29 / 4, 29 / 3, 4 / 3, 20 / 3, 20 / 49, 4.5, 3.0, 49 / 3)]
    assert models.rows("select * exclude (arm) from malformed_tool_calls") == [(1, 50, 3, 1, 1 / 3, 0)]


def test_of_records_with_one_key_the_first_file_and_line_stands(models: Models) -> None:
    first, other, third = record(0, 0, reward=0.25), record(0, 0, reward=0.5), record(0, 1)
    models.run(
        merged(
            shard("r", [other, third], number=1),
            shard("r", [first, first, other, record(0, 2)], number=0, folder="/b"),
            shard("r", [first], number=0, folder="/c"),
            metadata("r"),
        )
    )
    assert models.rows(
        "select sample_idx, reward, record_count, conflicting_record_count from rollouts order by sample_idx"
    ) == [(0, 0.25, 5, 2), (1, 1.0, 1, 0), (2, 1.0, 1, 0)]
    assert models.rows(
        "select source_name, line_number, drop_reason from rollout_records where drop_reason is not null order by all"
    ) == [
        ("/b/r_rollouts_000000.jsonl", 2, "duplicate_record"),
        ("/b/r_rollouts_000000.jsonl", 3, "conflicting_record"),
        ("/c/r_rollouts_000000.jsonl", 1, "duplicate_record"),
        ("/rollouts/r_rollouts_000001.jsonl", 1, "conflicting_record"),
    ]
    assert sorted(models.rows("select rollout_number from rollouts")) == [(1,), (2,), (3,)]
    told = findings(models)
    assert told["conflicting_rollouts", "/b/r_rollouts_000000.jsonl"].startswith("1 records (first: line 3) ")
    assert told["repeated_rollouts", "/b/r_rollouts_000000.jsonl"].startswith("1 records (first: line 2) ")
    assert ("repeated_rollouts", "/rollouts/r_rollouts_000001.jsonl") not in told
    severities = models.rows(
        "select kind, severity from turn_findings where kind like '%ed_rollouts' or kind like 'con%'"
    )
    assert set(severities) == {("conflicting_rollouts", "warn"), ("repeated_rollouts", "info")}


def test_tool_calls_are_unknown_where_the_tokenizer_is(models: Models) -> None:
    """Known; no row; no model; declared after the shard was read; one of two shards read before."""
    call = [record(0, 0, **response(2, "<", 1, ">"))]
    later = [record(0, 1, **response(2, "<", 1, ">"))]
    models.run(
        merged(
            *(shard("known", call), metadata("known")),
            *(shard("other", call), metadata("other", "meta/Llama-4")),
            *(shard("nameless", call), metadata("nameless", None)),
            *(shard("late", call, special_ids=[END]), metadata("late")),
            *(shard("half", call), shard("half", later, number=1, special_ids=[END, OPEN]), metadata("half")),
            shard("without", call),
        )
    )
    rows = models.rows(
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
    details = {subject: detail for (kind, subject), detail in findings(models).items() if kind == "unknown_tokenizer"}
    assert details.keys() == {"half", "late", "nameless", "other", "without"}
    assert "no row for meta/Llama-4" in details["other"]
    assert "names no model" in details["nameless"] and "names no model" in details["without"]
    assert "after the shards were read" in details["late"]
    assert models.rows(
        "select arm, assistant_tool_call_tokens_total, malformed_tool_call_rollouts, assistant_tokens_total "
        "from arm_turns where arm in ('known', 'late') order by arm"
    ) == [("known", 3, 0, 5), ("late", None, None, 5)]


def test_of_an_arm_with_a_known_and_an_unknown_tokenizer_calls_are_unknown(models: Models) -> None:
    call = response(2, "<", 1, ">")
    models.run(
        merged(
            *(shard("a__1__1", [record(0, 0, **call)]), metadata("a__1__1", started_at=START)),
            *(shard("a__1__2", [record(0, 1, **call)]), metadata("a__1__2", "x", started_at=START + timedelta(days=1))),
            *(
                shard("a__1__0", [record(1, 0, **call), record(2, 0, **call)]),
                metadata("a__1__0", started_at=datetime(2025, 1, 1)),
            ),
        )
    )
    assert models.rows(
        "select step_idx, assistant_tokens_total, assistant_tool_call_tokens_total, assistant_tool_call_spans_total, "
        "assistant_non_tool_call_tokens_total, mean_tool_call_length_tokens, malformed_tool_call_rollouts "
        "from arm_turns"
    ) == [(0, 5, None, None, None, None, None)]


def test_the_longest_pattern_names_the_tokenizer(models: Models) -> None:
    longer = QWEN | {"model_pattern": "*Qwen3.5-9B", "tool_call_open_id": 7, "tool_call_close_id": 8}
    models.run(
        merged(shard("r", [record(0, 0, [1, 7, 2, 8, 3])], special_ids=[7, 8]), metadata("r"), {"tokenizers": [longer]})
    )
    assert models.rows("select tool_call_tokens from rollouts") == [(3,)]


@pytest.mark.parametrize(
    ("calls", "tokens", "expected"),
    [
        ([0, 0], response(2, "<", 1, ">"), True),
        ([0, 1], response(2, "<", 1, ">"), False),
        ([0, None], response(2, "<", 1), True),
        ([0, 0], response(5), False),
        ([0, 0], response(2, ">"), False),
        ([None, None], response(2, "<", 1, ">"), None),
    ],
)
def test_a_run_whose_parser_missed_every_call_is_told(
    models: Models, calls: list, tokens: dict, expected: bool
) -> None:
    name = "arm__1__1"
    records = [record(0, i, **tokens, calls=count) for i, count in enumerate(calls)]
    models.run(merged(shard(name, records), metadata(name), curve("arm", 1, name)))
    assert models.rows("select has_tool_parser_mismatch from runs") == [(expected,)]
    assert (("tool_parser_mismatch", name) in findings(models)) is (expected is True)


def test_a_run_without_rollouts_has_no_parser_to_judge(models: Models) -> None:
    models.run(merged(curve("arm", 1, "arm__1__1")))
    assert models.rows("select has_tool_parser_mismatch from runs") == [(None,)]
    assert findings(models) == {}


def test_an_arm_is_declared_or_that_of_the_wandb_run_or_in_the_name(models: Models) -> None:
    one = [record(0, 0)]
    models.run(
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
            {"arm_assignments": [{"run_id": "moved__1__7", "arm": "declared"}]},
        )
    )
    assert models.rows("select run_name, arm, run_id, started_at from rollout_runs order by run_name") == [
        ("exp__42__1789453662", "exp", None, datetime(2026, 9, 15, 6, 27, 42)),
        ("logged__1__5", "arm of the log", "id of logged__1__5", START),
        ("moved__1__7", "declared", None, datetime(1970, 1, 1, 0, 0, 7)),
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
    models: Models, exclusion: dict, excluded: list[str]
) -> None:
    one = [record(0, 0)]
    models.run(
        merged(
            *(shard("a__1__1", one), metadata("a__1__1")),
            *(shard("a__1__2", one), metadata("a__1__2", started_at=START + timedelta(hours=1))),
            *(shard("b__1__1", one), curve("b", 3, "b__1__1")),
            {"run_exclusions": [exclusion | {"reason": "test"}]},
        )
    )
    rows = models.rows("select run_name from rollouts where drop_reason = 'excluded' order by run_name")
    assert [name for (name,) in rows] == excluded


def test_lengths_reconcile_by_training_step_up_to_a_hole(models: Models) -> None:
    """Steps 5 to 14 were not logged: from the fifth ordinal on the curve can't be joined, nor tell its last step."""
    name = "arm__1__1"
    records = [record(step, 0, [1] * (10 if step else 11)) for step in range(30)]
    models.run(merged(shard(name, records), metadata(name), curve("arm", 20, name, skipped=range(5, 15), lengths=10.0)))
    assert models.rows("select training_step, difference from turn_reconciliation order by 1") == [
        (1, 1.0),
        *((step, 0.0) for step in (2, 3, 4)),
        *((step, None) for step in range(5, 11)),
    ]
    assert models.rows("select distinct drop_reason from rollouts") == [(None,)]
    assert findings(models)["sequence_lengths_differ", "arm"].startswith("1 steps (first: training_step 1) ")


@pytest.mark.parametrize(("length", "differs"), [(10 * (1 + 0.9e-6), False), (10 * (1 - 1.1e-6), True), (10.1, True)])
def test_lengths_may_differ_by_a_millionth(models: Models, length: float, differs: bool) -> None:
    name = "arm__1__1"
    models.run(merged(shard(name, [record(0, 0, [1] * 10)]), metadata(name), curve("arm", 1, name, lengths=length)))
    assert (("sequence_lengths_differ", "arm") in findings(models)) is differs


def test_a_batch_that_differs_is_told_a_missing_one_too(models: Models) -> None:
    """Steps 2 to 5 of 6 have rollouts: 2, 1, none, 2. What lies before the first and after the last was not saved."""
    name = "arm__1__1"
    records = [record(step, sample) for step, count in ((1, 2), (2, 1), (4, 2)) for sample in range(count)]
    declared = {"arms": [{"arm": "arm", "expected_rollouts_per_step": 2}]}
    models.run(merged(shard(name, records), metadata(name), curve("arm", 6, name), declared))
    assert models.rows(
        "select training_step, n_rollouts, expected_rollouts_per_step from rollout_batches order by 1"
    ) == [
        (2, 2, 2),
        (3, 1, 2),
        (4, 0, 2),
        (5, 2, 2),
    ]
    assert findings(models) == {
        ("batch_size_differs", "arm"): "2 steps (first: training_step 3, with 1 rollouts) do not have the declared 2"
    }


def test_blocks_and_calls_may_differ_by_a_thousandth(models: Models) -> None:
    """Step 1: 999 blocks, 1,000 calls. Step 2: 998. A rollout that reports no number is left out."""
    block = response(1, -16, 1)
    records = [
        record(step, sample, **block, calls=1) for step, count in ((0, 999), (1, 998)) for sample in range(count)
    ]
    records += [record(0, 5_000, calls=1), record(1, 5_000, calls=2), record(1, 5_001, **block, calls=None)]
    models.run(merged(shard("arm__1__1", records), metadata("arm__1__1")))
    assert models.rows("select training_step, block_count, call_count from rollout_batches order by 1") == [
        (1, 999, 1000),
        (2, 998, 1000),
    ]
    told = findings(models)
    assert told.keys() == {("blocks_and_calls_differ", "arm")}
    assert told["blocks_and_calls_differ", "arm"].startswith("1 steps ") and "0.002 at training_step 2" in str(told)


def test_two_lists_that_do_not_line_up_are_told(models: Models) -> None:
    """Of a step's four rollouts, two match in run a: half is enough. In run b one does."""
    block = response(1, -16, 1)
    records = [record(3, i, **block, calls=1 if i < 2 else 2) for i in range(4)]
    fewer = [record(3, i, **block, calls=1 if i < 1 else 2) for i in range(4)] + [record(2, 0, **block, calls=1)]
    models.run(merged(shard("a", records), metadata("a"), shard("b", fewer), metadata("b")))
    told = {key: detail for key, detail in findings(models).items() if key[0] == "request_info_misaligned"}
    assert told.keys() == {("request_info_misaligned", "b")}
    assert "of 1 steps (first: step_idx 3)" in told["request_info_misaligned", "b"]


def test_a_calibration_that_peaks_elsewhere_is_told(models: Models) -> None:
    short = [record(0, i, **response(1, -12, 1), calls=1) for i in range(3)]
    models.run(merged(shard("r", [*short, record(0, 3, **response(1, -16, 1), calls=1)]), metadata("r")))
    assert models.rows(
        "select min_run_tokens, matching_rollout_count, matching_fraction, is_used from zero_run_calibration order by 1"
    ) == [(4, 4, 1.0, False), (8, 4, 1.0, False), (12, 4, 1.0, False), (16, 1, 0.25, True), (24, 0, 0.0, False)]
    assert ("calibration_peaks_elsewhere", "min_zero_run_tokens") in findings(models)


def test_arms_without_rollouts_are_told_where_others_have_some(models: Models) -> None:
    models.run(
        merged(shard("a__1__1", [record(0, 0)]), metadata("a__1__1"), curve("a", 1, "a__1__1"), curve("b", 1, "b"))
    )
    assert [key for key in findings(models) if key[0] == "arm_without_rollouts"] == [("arm_without_rollouts", "b")]


def test_a_longer_lineage_that_was_passed_over_is_told(models: Models) -> None:
    runs = [("a__1__1", range(4)), ("a__1__2", range(2)), ("b__1__1", range(2)), ("b__1__2", range(2))]
    parts = [
        part
        for name, steps in runs
        for part in (shard(name, [record(s, 0) for s in steps]), metadata(name, started_at=None))
    ]
    models.run(merged(*parts))
    assert {k: v for k, v in findings(models).items() if k[0].startswith("longer")} == {
        ("longer_rollout_lineage_not_chosen", "a"): ("another lineage of its rollouts has 4 steps, the chosen one 2")
    }


pieces = st.lists(
    st.one_of(
        st.integers(1, 6),
        st.integers(-20, -1),
        st.sampled_from([-15, -16, -17]),
        st.sampled_from(["<", ">", "(", ")"]),
    ),
    max_size=14,
)


@FEW
@given(st.lists(pieces, min_size=1, max_size=25))
def test_the_split_equals_a_walk_over_every_token(models: Models, many: list[list]) -> None:
    made = [response(*one) for one in many]
    models.run(merged(shard("arm__1__1", [record(0, i, **one) for i, one in enumerate(made)]), metadata("arm__1__1")))
    rows = models.rows(f"select {COLUMNS} from rollouts order by sample_idx")
    assert len(rows) == len(made)
    for one, row in zip(made, rows, strict=True):
        told = split(one["tokens"], one["logprobs"], OPEN, CLOSE)
        assert row == (
            *(told.assistant, told.inserted, told.blocks, told.segments, told.in_calls),
            *(told.spans, told.unclosed, told.unclosed > 0, told.assistant - told.in_calls),
        )
    totals = [split(one["tokens"], one["logprobs"], OPEN, CLOSE) for one in made]
    for threshold, count, equal in models.rows(
        "select min_run_tokens, rollout_count, matching_rollout_count from zero_run_calibration"
    ):
        blocks = [split(one["tokens"], one["logprobs"], OPEN, CLOSE, threshold).blocks for one in made]
        assert (count, equal) == (len(made), sum(found == 0 for found in blocks)), threshold
    assert models.rows("select assistant_tokens_total, malformed_tool_call_rollouts from arm_turns") == [
        (sum(t.assistant for t in totals), sum(t.unclosed > 0 for t in totals))
    ]


attempts = st.lists(
    st.tuples(
        st.sampled_from(["one", "two"]),
        st.one_of(st.none(), st.integers(0, 3)),
        st.integers(0, 8),
        st.integers(1, 6),
        st.booleans(),
    ),
    min_size=1,
    max_size=7,
)


def check_labels(models: Models, drawn: list[tuple], trained: int | None, leaf: int | None, choice: str) -> None:
    runs = [
        Attempt(arm, f"run {i}", start, list(range(first, first + count)), dropped and i % 3 == 0)
        for i, (arm, start, first, count, dropped) in enumerate(drawn)
    ]
    leaves = {run.arm: run.run_name for i, run in enumerate(runs) if i == leaf and not run.is_excluded}
    curves = [curve("one", trained)] if trained else []
    parts = [
        part
        for run in runs
        for part in (
            shard(run.run_name, [record(step, sample) for step in run.steps for sample in range(2)]),
            metadata(
                run.run_name, started_at=None if run.started_at is None else START + timedelta(hours=run.started_at)
            ),
        )
    ]
    facts = {
        "arm_assignments": [{"run_id": run.run_name, "arm": run.arm} for run in runs],
        "run_exclusions": [{"run_id": run.run_name, "reason": "test"} for run in runs if run.is_excluded],
        "arms": [{"arm": arm, "leaf_run_id": name} for arm, name in leaves.items()],
    }
    models.run(merged(*parts, *curves, facts))
    label(runs, {"one": trained} if trained else {}, choice, leaves)
    expected = sorted(
        (run.run_name, step, sample, run.arm, run.label[step])
        for run in runs
        for step in run.steps
        for sample in (0, 1)
    )
    assert expected == models.rows(
        "select run_name, step_idx, sample_idx, arm, drop_reason from rollouts order by run_name, step_idx, sample_idx"
    )


@FEW
@given(attempts, st.one_of(st.none(), st.integers(1, 14)), st.one_of(st.none(), st.integers(0, 6)))
def test_labels_equal_the_oracles(models: Models, drawn: list[tuple], trained: int | None, leaf: int | None) -> None:
    check_labels(models, drawn, trained, leaf, "latest")


@FEW
@given(attempts, st.one_of(st.none(), st.integers(0, 6)))
def test_labels_equal_the_oracles_when_the_furthest_lineage_counts(
    furthest: Models, drawn: list[tuple], leaf: int | None
) -> None:
    check_labels(furthest, drawn, None, leaf, "furthest")
