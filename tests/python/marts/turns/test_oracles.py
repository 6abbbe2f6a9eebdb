"""The turn models against oracles in plain Python, on rollouts and restarts that hypothesis makes up."""

from datetime import timedelta

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.python.support.models import Models
from tests.python.support.planted_rollouts import (
    CLOSE,
    OPEN,
    SPLIT_COLUMNS,
    START,
    curve,
    merged,
    metadata,
    record,
    response,
    shard,
)
from tests.python.support.turn_oracle import Attempt, label, split

FEW = settings(
    max_examples=40,
    deadline=None,
    derandomize=True,
    phases=[Phase.explicit, Phase.generate, Phase.shrink],
    suppress_health_check=list(HealthCheck),
)


@pytest.fixture(scope="module")
def furthest(tmp_path_factory: pytest.TempPathFactory) -> Models:
    return Models(tmp_path_factory.mktemp("home"), ["rollouts"], {"lineage_choice": "furthest"})


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
def test_the_split_equals_a_walk_over_every_token(turn_models: Models, many: list[list]) -> None:
    made = [response(*one) for one in many]
    turn_models.run(
        merged(shard("arm__1__1", [record(0, i, **one) for i, one in enumerate(made)]), metadata("arm__1__1"))
    )
    rows = turn_models.rows(f"select {SPLIT_COLUMNS} from rollouts order by sample_idx")
    assert len(rows) == len(made)
    for one, row in zip(made, rows, strict=True):
        told = split(one["tokens"], one["logprobs"], OPEN, CLOSE)
        assert row == (
            *(told.assistant, told.inserted, told.blocks, told.segments, told.in_calls),
            *(told.spans, told.unclosed, told.unclosed > 0, told.assistant - told.in_calls),
        )
    totals = [split(one["tokens"], one["logprobs"], OPEN, CLOSE) for one in made]
    for threshold, count, equal in turn_models.rows(
        "select min_run_tokens, rollout_count, matching_rollout_count from zero_run_calibration"
    ):
        blocks = [split(one["tokens"], one["logprobs"], OPEN, CLOSE, threshold).blocks for one in made]
        assert (count, equal) == (len(made), sum(found == 0 for found in blocks)), threshold
    assert turn_models.rows("select assistant_tokens_total, malformed_tool_call_rollouts from arm_turns") == [
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


def check_labels(turn_models: Models, drawn: list[tuple], trained: int | None, leaf: int | None, choice: str) -> None:
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
    turn_models.run(merged(*parts, *curves, facts))
    label(runs, {"one": trained} if trained else {}, choice, leaves)
    expected = sorted(
        (run.run_name, step, sample, run.arm, run.label[step])
        for run in runs
        for step in run.steps
        for sample in (0, 1)
    )
    assert expected == turn_models.rows(
        "select run_name, step_idx, sample_idx, arm, drop_reason from rollouts order by run_name, step_idx, sample_idx"
    )


@FEW
@given(attempts, st.one_of(st.none(), st.integers(1, 14)), st.one_of(st.none(), st.integers(0, 6)))
def test_labels_equal_the_oracles(
    turn_models: Models, drawn: list[tuple], trained: int | None, leaf: int | None
) -> None:
    check_labels(turn_models, drawn, trained, leaf, "latest")


@FEW
@given(attempts, st.one_of(st.none(), st.integers(0, 6)))
def test_labels_equal_the_oracles_when_the_furthest_lineage_counts(
    furthest: Models, drawn: list[tuple], leaf: int | None
) -> None:
    check_labels(furthest, drawn, None, leaf, "furthest")
