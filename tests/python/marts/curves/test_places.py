"""Where a row lies that does not state its position."""

import pytest

from tests.python.support.campaign import Campaign, steps


def places(models, campaign, log="a") -> list[tuple]:
    """(position, its source, label) of each row of a log."""
    models.run(campaign.tables)
    return models.rows(
        f"select position, position_source, drop_reason from run_rows where log_id = '{log}' order by row_idx"
    )


def test_another_key_of_the_same_last_name_places_a_row_where_it_keeps_pace(models):
    rows = []
    for i in range(1, 41):
        rows += steps(i, key="train/global_step", **{"train/reward": 1.0})
        if i % 10 == 0:
            rows += steps(i, key="eval/global_step", **{"eval/pass1": i / 100})
    found = places(models, Campaign().log("a", "a", rows))
    assert [p for p in found if p[1] == "step_metric"] == [(i, "step_metric", None) for i in (10, 20, 30, 40)]
    values = models.rows("select training_step, value from arm_metrics where metric = 'eval/pass1' order by 1")
    assert values == [(10, 0.1), (20, 0.2), (30, 0.3), (40, 0.4)]
    assert models.rows("select step_count from arms") == [(40,)]


def test_a_key_of_the_same_last_name_that_counts_another_thing_places_nothing(models):
    rows = []
    for i in range(1, 6):
        rows += [{"train/step": 10.0 * i, "loss": 1.0}, {"rollout/step": 1.0 * i, "reward": 1.0}]
    found = places(models, Campaign().log("a", "a", rows))
    assert found[1::2] == [(10.0 * i, "carried", None) for i in range(1, 6)]
    assert models.rows("select step_count from arms") == [(5,)]


@pytest.mark.parametrize(
    ("value", "source"),
    [
        (10, "step_metric"),
        (30, "step_metric"),
        (0, "step_metric"),
        (40, "step_metric"),
        (-1, "carried"),
        (41, "carried"),
    ],
)
def test_keeping_pace_is_lying_within_a_gap_of_the_neighbours(models, value, source):
    # Between 10 and 30, which lie 20 apart, where half of the gaps are 10
    rows = [*steps(0, 10), {"eval/global_step": float(value), "eval": 1.0}, *steps(30, 40)]
    assert places(models, Campaign().log("a", "a", rows))[2][1] == source


@pytest.mark.parametrize(
    ("value", "source"), [(70, "step_metric"), (71, "carried"), (40, "step_metric"), (39, "carried")]
)
def test_behind_the_last_row_a_key_may_run_two_gaps_ahead(models, value, source):
    rows = [*steps(30, 40, 50), {"eval/global_step": float(value), "eval": 1.0}]
    assert places(models, Campaign().log("a", "a", rows))[3][1] == source


def test_a_key_that_parts_from_the_axis_once_places_nothing_in_that_log(models):
    rows = [
        *steps(10, 20, eval=1.0),
        {"eval/global_step": 20.0, "e": 1.0},
        *steps(30),
        {"eval/global_step": 500.0, "e": 1.0},
    ]
    campaign = Campaign().log("a", "a", rows, run_name="arm").log("b", "b", rows[:4], 9, run_name="arm")
    assert [source for _, source, _ in places(models, campaign)][2::2] == ["carried", "carried"]
    assert places(models, campaign, "b")[2][1] == "step_metric"


def test_a_declared_step_metric_comes_before_one_of_the_same_last_name(models):
    rows = [*steps(10, 20), {"b/rounds": 21.0, "a/global_step": 22.0, "eval": 1.0}, *steps(30, 40)]
    assert places(models, Campaign().log("a", "a", rows, axes={"eval": "b/rounds"}))[2][0] == 21
    assert places(models, Campaign().log("a", "a", rows))[2][0] == 22


def test_a_validation_before_training_lies_at_the_trackers_step(models):
    rows = [{"_step": 0, "val/reward": 0.1}]
    for i in range(1, 6):
        rows.append({"_step": i, "training/global_step": float(i), "actor/loss": 1.0, "val/reward": float(i)})
    found = places(models, Campaign().log("a", "a", rows))
    assert found[0] == (0, "tracker_step", None)
    values = models.rows("select training_step, value from arm_metrics where metric = 'val/reward' order by 1")
    assert values[0] == (1, 0.1)
    assert len(values) == 6
    # It is a step of its own, which takes no part in the gaps.
    assert models.rows("select is_extra, gap_ratio from arm_steps order by training_step limit 3") == [
        (True, None),
        (False, None),
        (False, 1),
    ]


@pytest.mark.parametrize(
    ("tracker", "source"),
    [
        ([0, 1, 2, 3], "tracker_step"),  # the key is the step and one
        ([0, 1, 3, 4], "carried"),
        ([0, 1, None, None], "carried"),  # one row has both: no offset is known
        ([None, 1, 2, 3], "carried"),
    ],
)
def test_the_trackers_step_places_a_row_where_it_runs_beside_the_key(models, tracker, source):
    rows = [{"_step": t, "loss": 1.0} | ({"global_step": i + 1.0} if i else {}) for i, t in enumerate(tracker)]
    assert places(models, Campaign().log("a", "a", rows))[0] == (1 if source == "tracker_step" else 2, source, None)


def test_else_a_row_is_carried_to_the_placed_row_before_it_or_after_it(models):
    rows = [{"setup": 1.0}, *steps(10), {"eval": 1.0}, {"eval": 2.0}, *steps(20), {"end": 1.0}]
    found = places(models, Campaign().log("a", "a", rows))
    assert [position for position, _, _ in found] == [10, 10, 10, 10, 20, 20]
    assert models.rows(
        "select training_step, metric, value from arm_metrics where metric in ('setup', 'eval', 'end') order by 1, 2"
    ) == [
        (1, "eval", 2),
        (1, "setup", 1),
        (2, "end", 1),
    ]
    assert models.rows("select training_step, row_count from arm_steps order by 1") == [(1, 4), (2, 2)]


def test_a_log_without_the_key_stands_on_its_most_frequent_key_of_that_last_name(models):
    campaign = Campaign().log("a", "a", steps(1, 2, 3), run_name="arm")
    rows = [{"x/global_step": 1.0}, {"x/global_step": 4.0, "y/global_step": 5.0, "loss": 1.0}, {"y/global_step": 6.0}]
    rows += [{"y/global_step": 7.0, "loss": 1.0}, {"loss": 2.0}]
    campaign.log("b", "b", rows, 9, run_name="arm")
    assert places(models, campaign, "b") == [
        (1, "step_metric", None),  # x keeps pace with y
        (5, "step_metric", None),
        (6, "step_metric", None),
        (7, "step_metric", None),
        (7, "carried", None),
    ]
    assert models.rows("select parent_segment_number from segments order by segment_number") == [(None,), (1,)]


def test_only_a_log_without_any_axis_is_unpositioned_and_the_lost_metrics_are_named(models):
    campaign = Campaign().log("a", "a", steps(1, 2), run_name="arm")
    campaign.log("b", "b", [{"loss": 1.0, "note": (None, '"x"', None), "_own": 1.0}, {"eval": None}], 9, run_name="arm")
    assert places(models, campaign, "b") == [(None, None, "unpositioned")] * 2
    found = models.rows("select kind, severity, detail from curve_findings where subject = 'arm'")
    assert found == [
        (
            "unpositioned_metrics",
            "warn",
            "2 rows are of logs without any axis and on no curve; with them are lost eval, note",
        )
    ]
    campaign = Campaign().log("a", "a", steps(1, 2), run_name="arm").log("b", "b", [{"loss": 1.0}], 9, run_name="arm")
    models.run(campaign.tables)
    assert models.rows("select kind, severity from curve_findings") == [("unpositioned_rows", "info")]


@pytest.mark.parametrize(
    ("before", "after", "are_synced"),
    [
        ([0, 0], [500, 510, 520], True),
        ([0, 0], [20, 30, 40], False),  # two gaps above 0 may be a first step
        ([0, 0], [21, 31, 41], True),
        ([300, 300], [10, 20, 30], True),  # the last value of the launch before
        ([5, 5], [500, 510, 520], False),
    ],
)
def test_a_key_that_the_tracker_wrote_into_early_rows_is_no_position(models, before, after, are_synced):
    rows = [*steps(*before, **{"eval": 1.0}), *steps(*after)]
    found = places(models, Campaign().log("a", "a", rows, axes={"loss": "global_step", "eval": "global_step"}))
    assert found[0] == ((after[0], "carried", None) if are_synced else (before[0], "logged", None))
    assert models.rows("select count(*) from segments") == [(1,)]


def test_rows_that_log_what_the_next_ones_do_were_written_by_the_trainer(models):
    rows = steps(300, 300, 10, 20, 30)
    found = places(models, Campaign().log("a", "a", rows, axes={"*": "global_step"}))
    assert [source for _, source, _ in found] == ["logged"] * 5
    assert models.rows("select count(*) from segments") == [(2,)]


def test_only_an_axis_that_the_log_declared_is_synced(models):
    rows = [*steps(300, 300, **{"eval": 1.0}), *steps(10, 20, 30)]
    assert places(models, Campaign().log("a", "a", rows))[0] == (300, "logged", None)
    assert models.rows("select count(*), count(distinct track_number) from segments") == [(2, 2)]
