"""What the rollouts of a home must tell a person, on cases worked out by hand."""

import pytest

from tests.python.support.models import Models
from tests.python.support.planted_rollouts import curve, findings, merged, metadata, record, response, shard


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
    turn_models: Models, calls: list, tokens: dict, expected: bool
) -> None:
    name = "arm__1__1"
    records = [record(0, i, **tokens, calls=count) for i, count in enumerate(calls)]
    turn_models.run(merged(shard(name, records), metadata(name), curve("arm", 1, name)))
    assert turn_models.rows("select has_tool_parser_mismatch from runs") == [(expected,)]
    assert (("tool_parser_mismatch", name) in findings(turn_models)) is (expected is True)


def test_a_run_without_rollouts_has_no_parser_to_judge(turn_models: Models) -> None:
    turn_models.run(merged(curve("arm", 1, "arm__1__1")))
    assert turn_models.rows("select has_tool_parser_mismatch from runs") == [(None,)]
    assert findings(turn_models) == {}


def test_lengths_reconcile_by_training_step_up_to_a_hole(turn_models: Models) -> None:
    """Steps 5 to 14 were not logged: from the fifth ordinal on the curve can't be joined, nor tell its last step."""
    name = "arm__1__1"
    records = [record(step, 0, [1] * (10 if step else 11)) for step in range(30)]
    turn_models.run(
        merged(shard(name, records), metadata(name), curve("arm", 20, name, skipped=range(5, 15), lengths=10.0))
    )
    assert turn_models.rows("select training_step, difference from turn_reconciliation order by 1") == [
        (1, 1.0),
        *((step, 0.0) for step in (2, 3, 4)),
        *((step, None) for step in range(5, 11)),
    ]
    assert turn_models.rows("select distinct drop_reason from rollouts") == [(None,)]
    assert findings(turn_models)["sequence_lengths_differ", "arm"].startswith("1 steps (first: training_step 1) ")


@pytest.mark.parametrize(("length", "differs"), [(10 * (1 + 0.9e-6), False), (10 * (1 - 1.1e-6), True), (10.1, True)])
def test_lengths_may_differ_by_a_millionth(turn_models: Models, length: float, differs: bool) -> None:
    name = "arm__1__1"
    turn_models.run(
        merged(shard(name, [record(0, 0, [1] * 10)]), metadata(name), curve("arm", 1, name, lengths=length))
    )
    assert (("sequence_lengths_differ", "arm") in findings(turn_models)) is differs


def test_a_batch_that_differs_is_told_a_missing_one_too(turn_models: Models) -> None:
    """Steps 2 to 5 of 6 have rollouts: 2, 1, none, 2. What lies before the first and after the last was not saved."""
    name = "arm__1__1"
    records = [record(step, sample) for step, count in ((1, 2), (2, 1), (4, 2)) for sample in range(count)]
    declared = {"arms": [{"arm": "arm", "expected_rollouts_per_step": 2}]}
    turn_models.run(merged(shard(name, records), metadata(name), curve("arm", 6, name), declared))
    assert turn_models.rows(
        "select training_step, n_rollouts, expected_rollouts_per_step from rollout_batches order by 1"
    ) == [
        (2, 2, 2),
        (3, 1, 2),
        (4, 0, 2),
        (5, 2, 2),
    ]
    assert findings(turn_models) == {
        ("batch_size_differs", "arm"): "2 steps (first: training_step 3, with 1 rollouts) do not have the declared 2"
    }


def test_blocks_and_calls_may_differ_by_a_thousandth(turn_models: Models) -> None:
    """Step 1: 999 blocks, 1,000 calls. Step 2: 998. A rollout that reports no number is left out."""
    block = response(1, -16, 1)
    records = [
        record(step, sample, **block, calls=1) for step, count in ((0, 999), (1, 998)) for sample in range(count)
    ]
    records += [record(0, 5_000, calls=1), record(1, 5_000, calls=2), record(1, 5_001, **block, calls=None)]
    turn_models.run(merged(shard("arm__1__1", records), metadata("arm__1__1")))
    assert turn_models.rows("select training_step, block_count, call_count from rollout_batches order by 1") == [
        (1, 999, 1000),
        (2, 998, 1000),
    ]
    told = findings(turn_models)
    assert told.keys() == {("blocks_and_calls_differ", "arm")}
    assert told["blocks_and_calls_differ", "arm"].startswith("1 steps ") and "0.002 at training_step 2" in str(told)


def test_two_lists_that_do_not_line_up_are_told(turn_models: Models) -> None:
    """Of a step's four rollouts, two match in run a: half is enough. In run b one does."""
    block = response(1, -16, 1)
    records = [record(3, i, **block, calls=1 if i < 2 else 2) for i in range(4)]
    fewer = [record(step, i, **block, calls=1 if i < 1 else 2) for step in (3, 5) for i in range(4)]
    fewer.append(record(2, 0, **block, calls=1))
    turn_models.run(merged(shard("a", records), metadata("a"), shard("b", fewer), metadata("b")))
    told = {key: detail for key, detail in findings(turn_models).items() if key[0] == "request_info_misaligned"}
    assert told.keys() == {("request_info_misaligned", "b")}
    assert "of 2 steps (first: step_idx 3)" in told["request_info_misaligned", "b"]


def test_of_steps_that_differ_alike_the_first_is_told(turn_models: Models) -> None:
    """A finding that names any of them would read otherwise after the next build."""
    records = [record(step, 0, **response(1, -16, 1), calls=2) for step in reversed(range(40))]
    turn_models.run(merged(shard("arm__1__1", records), metadata("arm__1__1")))
    assert findings(turn_models)["blocks_and_calls_differ", "arm"].endswith("(worst: 0.5 at training_step 1)")


def test_a_calibration_that_peaks_elsewhere_is_told(turn_models: Models) -> None:
    short = [record(0, i, **response(1, -12, 1), calls=1) for i in range(3)]
    turn_models.run(merged(shard("r", [*short, record(0, 3, **response(1, -16, 1), calls=1)]), metadata("r")))
    assert turn_models.rows(
        "select min_run_tokens, matching_rollout_count, matching_fraction, is_used from zero_run_calibration order by 1"
    ) == [(4, 4, 1.0, False), (8, 4, 1.0, False), (12, 4, 1.0, False), (16, 1, 0.25, True), (24, 0, 0.0, False)]
    assert findings(turn_models)["calibration_peaks_elsewhere", "min_zero_run_tokens"].endswith(
        "tokens (1.0), not at the chosen 16"
    )


def test_arms_without_rollouts_are_told_where_others_have_some(turn_models: Models) -> None:
    turn_models.run(
        merged(shard("a__1__1", [record(0, 0)]), metadata("a__1__1"), curve("a", 1, "a__1__1"), curve("b", 1, "b"))
    )
    assert [key for key in findings(turn_models) if key[0] == "arm_without_rollouts"] == [("arm_without_rollouts", "b")]


def test_a_longer_lineage_that_was_passed_over_is_told(turn_models: Models) -> None:
    runs = [("a__1__1", range(4)), ("a__1__2", range(2)), ("b__1__1", range(2)), ("b__1__2", range(2))]
    parts = [
        part
        for name, steps in runs
        for part in (shard(name, [record(s, 0) for s in steps]), metadata(name, started_at=None))
    ]
    turn_models.run(merged(*parts))
    assert {k: v for k, v in findings(turn_models).items() if k[0].startswith("longer")} == {
        ("longer_rollout_lineage_not_chosen", "a"): (
            "another lineage of its rollouts (ending in run a__1__1) has 4 steps, the chosen one 2"
        )
    }


def test_the_first_step_of_another_length_is_told_and_a_step_without_a_logged_one_stays(turn_models: Models) -> None:
    """Steps 2 and 3 are 11 tokens long where 10 were logged; of step 4 the trainer logged no length."""
    name = "arm__1__1"
    records = [record(step, 0, [1] * (11 if step in (1, 2) else 10)) for step in range(4)]
    logged = curve("arm", 4, name, lengths=10.0)
    logged["history_values"].pop()
    turn_models.run(merged(shard(name, records), metadata(name), logged))
    assert turn_models.rows("select * exclude (arm) from turn_reconciliation order by training_step") == [
        (1, 10.0, 10.0, 0.0),
        (2, 11.0, 10.0, 1.0),
        (3, 11.0, 10.0, 1.0),
        (4, 10.0, None, None),
    ]
    assert findings(turn_models)["sequence_lengths_differ", "arm"].startswith("2 steps (first: training_step 2) ")
