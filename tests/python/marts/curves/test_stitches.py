"""Segments, tracks, lineages, what was rolled back, and seams."""

import pytest

from tests.python.support.campaign import Campaign, steps


def labels(models, campaign) -> dict[str, list]:
    """For each log the label of each row; kept ones have their training step."""
    models.run(campaign.tables)
    found: dict[str, list] = {}
    for log, label, step in models.rows(
        "select log_id, drop_reason, training_step from run_rows order by log_id, row_idx"
    ):
        found.setdefault(log, []).append(label or step)
    return found


ROLLED, OTHER, SEAM = "rolled_back", "other_lineage", "seam_collapsed"


def test_a_resume_truncates_its_parent_and_an_aborted_relaunch_swallows_nothing(models):
    campaign = Campaign()
    campaign.log("a", "crashed", steps(*range(0, 301, 10)), run_name="arm")
    campaign.log("b", "aborted", steps(0, 3), 10, run_name="arm")
    campaign.log("c", "resumed", steps(*range(280, 501, 10)), 20, run_name="arm")
    found = labels(models, campaign)
    assert found == {"a": [*range(1, 29), *[ROLLED] * 3], "b": [OTHER, OTHER], "c": [*range(29, 52)]}
    found = models.rows("select distinct run_id, superseded_by_run_id from run_rows where drop_reason is not null")
    assert sorted(found, key=str) == [("aborted", None), ("crashed", "resumed")]


def test_a_restart_at_8_of_10_leaves_12_rows_and_3_audited_drops(models):
    campaign = Campaign().log("a", "crashed", steps(*range(1, 11)), run_name="arm")
    campaign.log("b", "resumed", steps(*range(8, 13)), 5, run_name="arm")
    assert labels(models, campaign) == {"a": [1, 2, 3, 4, 5, 6, 7, *[ROLLED] * 3], "b": [8, 9, 10, 11, 12]}


def test_work_outside_the_chosen_lineage_is_other_lineage_at_whatever_position(models):
    campaign = Campaign().log("a", "a", steps(0, 10, 20, 30), run_name="arm")
    campaign.log("b", "b", steps(0, 10), 5, run_name="arm")
    assert labels(models, campaign) == {"a": [OTHER] * 4, "b": [1, 2]}


@pytest.mark.parametrize(
    ("first", "gap", "is_resumed"),
    [
        (10, 10, False),  # what logs every ten steps begins at ten
        (20, 10, True),
        (10, 1, True),
        (10, 4, True),
    ],
)
def test_a_segment_that_starts_at_its_own_gap_is_a_fresh_start(models, first, gap, is_resumed):
    campaign = Campaign().log("a", "a", steps(*range(0, 20)), run_name="arm")
    campaign.log("b", "b", steps(*range(first, first + 20 * gap, gap)), 5, run_name="arm")
    models.run(campaign.tables)
    assert models.rows("select is_fresh_start from segments order by segment_number") == [(True,), (not is_resumed,)]


@pytest.mark.parametrize(("below", "is_resumed"), [((0, 1), True), ((0, 2), False), ((0.5, 1.5), False)])
def test_but_not_where_a_run_of_its_cadence_logged_a_whole_step_below(models, below, is_resumed):
    campaign = Campaign().log("a", "a", steps(*below), run_name="arm").log("b", "b", steps(1, 2), 5, run_name="arm")
    models.run(campaign.tables)
    assert models.rows("select is_fresh_start from segments order by segment_number") == [(True,), (not is_resumed,)]


@pytest.mark.parametrize(
    ("trainer", "is_resumed"),
    [
        ((1, 2, 3), False),
        ((2, 3, 4), True),
        ((2, 4, 6), True),  # no more than its own gap, but the run before began lower
        ((0, 1, 2), False),
    ],
)
def test_a_segment_in_which_the_trainers_own_step_starts_over_is_a_fresh_start(models, trainer, is_resumed):
    def rows(positions, own):
        return [
            {"global_step": float(p), "training_step": float(t), "loss": 1.0}
            for p, t in zip(positions, own, strict=True)
        ]

    campaign = Campaign().log("a", "a", rows((64, 128, 192, 256), (1, 2, 3, 4)), run_name="arm")
    # 256 is more than its own gap above zero
    campaign.log("b", "b", rows((256, 320, 384), trainer), 5, run_name="arm")
    models.run(campaign.tables)
    assert models.rows("select is_fresh_start from segments order by segment_number") == [(True,), (not is_resumed,)]


def test_a_trainers_step_that_an_earlier_segment_had_below_does_not_start_over(models):
    rows = [{"global_step": 64.0 * i, "training_step": float(i), "loss": 1.0} for i in range(4)]
    again = [{"global_step": 128.0 + 64 * i, "training_step": float(1 + i), "loss": 1.0} for i in range(3)]
    campaign = Campaign().log("a", "a", rows, run_name="arm").log("b", "b", again, 5, run_name="arm")
    models.run(campaign.tables)
    assert models.rows("select is_fresh_start from segments order by segment_number") == [(True,), (False,)]


@pytest.mark.parametrize(("start", "kept_of_parent"), [(40, 9), (41, 0)])
def test_a_resume_reaches_two_median_gaps_back_and_rows_of_one_step_are_no_gap(models, start, kept_of_parent):
    campaign = Campaign()
    campaign.log("a1", "crashed", steps(0, 0, 0, 10, 10, 10, 20, 20, 20), run_name="arm")
    campaign.log("b1", "resumed", steps(start, start + 10), 1, run_name="arm")
    models.run(campaign.tables)
    kept = models.rows("select run_id, kept_row_count, other_lineage_row_count from runs order by run_id")
    assert kept == [("crashed", kept_of_parent, 9 - kept_of_parent), ("resumed", 2, 0)]


def test_every_step_back_within_a_log_begins_a_segment(models):
    campaign = Campaign().log("a1", "a", steps(0, 10, 20, 10, 20, 30, 20, 30))
    assert labels(models, campaign) == {"a1": [1, ROLLED, ROLLED, 2, ROLLED, ROLLED, 3, 4]}
    found = models.rows("select segment_number, first_position, last_position, is_chosen from segments order by 1")
    assert found == [(1, 0, 20, True), (2, 10, 30, True), (3, 20, 30, True)]


def test_an_evaluation_logged_late_redoes_nothing(models):
    rows = [*steps(8, 9, 10, 11, 12), *steps(10, eval=0.5), *steps(13, 14)]
    campaign = Campaign().log("a", "a", rows)
    assert labels(models, campaign) == {"a": [1, 2, 3, 4, 5, 3, 6, 7]}
    assert models.rows("select training_step from arm_metrics where metric = 'eval'") == [(3,)]
    assert models.rows("select count(*) from segments") == [(1,)]


@pytest.mark.parametrize(
    "rows",
    [
        [*steps(10, 11, 12), *steps(10, loss=2.0), *steps(13)],  # logs what the next row does
        [*steps(10, 11, 12), *steps(10, eval=0.5), *steps(11, 12)],  # goes on below
    ],
)
def test_a_step_back_that_does_the_work_again_begins_a_segment(models, rows):
    models.run(Campaign().log("a", "a", rows).tables)
    assert models.rows("select count(*) from segments")[0][0] > 1


@pytest.mark.parametrize(("leaf", "chosen"), [("long", "long"), ("relaunch", "relaunch"), ("unknown", "relaunch")])
def test_a_declared_leaf_is_where_the_curve_ends(models, leaf, chosen):
    campaign = Campaign()
    campaign.log("a1", "long", steps(0, 10, 20, 30), run_name="arm")
    campaign.log("b1", "relaunch", steps(0, 10), 1, run_name="arm")
    campaign.declare("arms", arm="arm", leaf_run_id=leaf)
    models.run(campaign.tables)
    assert models.rows("select distinct run_id from arm_steps") == [(chosen,)]
    assert models.rows("select leaf_run_id from arms") == [(chosen,)]


def test_logs_without_times_follow_each_other_by_their_number(models):
    campaign = Campaign()
    campaign.log("z", "run", steps(0, 10, 20), launch_name="first").log("y", "run", steps(10, 20, 30))
    for table in ("history_logs", "history_rows"):
        for row in campaign.tables[table]:
            row |= {"started_at": None} if table == "history_logs" else {"logged_at": None}
    assert labels(models, campaign) == {"y": [2, 3, 4], "z": [1, ROLLED, ROLLED]}


# Tracks


def test_a_second_pass_with_other_metrics_redoes_nothing(models):
    rows = [*steps(*range(50), loss1=1.0), *steps(*range(50), loss2=2.0)]
    assert labels(models, Campaign().log("a", "a", rows)) == {"a": [*range(1, 51), *range(1, 51)]}
    found = models.rows("select metric, count(*) from arm_metrics group by metric order by metric")
    assert found == [("global_step", 50), ("loss1", 50), ("loss2", 50)]
    assert models.rows("select row_count from arm_steps limit 1") == [(2,)]
    assert models.rows("select segment_number, track_number, is_main_track from segments order by 1") == [
        (1, 1, True),
        (2, 2, False),
    ]


def test_segments_that_others_link_are_one_track(models):
    campaign = Campaign()
    for i, metrics in enumerate(("a", "b", "c", "ab", "d", "bc", "e")):
        rows = steps(0, 1, **dict.fromkeys(metrics, 1.0))
        campaign.log(f"l{i}", f"r{i}", rows, 5 * i, run_name="arm")
    campaign.log("m1", "m1", [{"global_step": 1.0}], 50, run_name="arm")
    campaign.log("m2", "m2", [{"global_step": 1.0, "epoch": 2.0, "_own": 1.0}], 55, run_name="arm")
    models.run(campaign.tables)
    found = models.rows("select segment_number, track_number from segments order by 1")
    assert [track for _, track in found] == [1, 1, 1, 1, 2, 1, 3, 4, 4]


def test_the_track_of_the_headline_metric_numbers_the_steps_and_the_others_take_their_place(models):
    campaign = Campaign()
    campaign.log("a", "a", steps(0, 1, 2, 3, 4, 5, loss=1.0), run_name="arm")
    campaign.log("b", "b", steps(2, 4, scores=1.0), 5, run_name="arm")
    assert labels(models, campaign) == {"a": [1, 1, 1, 1, 2, 2], "b": [1, 2]}
    campaign.declare("arms", arm="arm", headline_metric="loss")
    assert labels(models, campaign) == {"a": [1, 2, 3, 4, 5, 6], "b": [3, 5]}
    values = models.rows("select training_step, metric from arm_metrics where metric = 'scores' order by 1")
    assert values == [(3, "scores"), (5, "scores")]


def test_where_the_main_track_of_a_run_was_rolled_back_so_are_its_others_from_there_on(models):
    campaign = Campaign()
    campaign.log("a", "one", steps(*range(0, 60, 10)), run_name="arm")
    campaign.log("b", "one", steps(5, 25, 35, 45, other=1.0), 0.5, run_name="arm")
    campaign.log("c", "two", steps(30, 40, 50, 60), 10, run_name="arm")
    campaign.log("d", "two", steps(35, 55, other=1.0), 11, run_name="arm")
    assert labels(models, campaign)["b"] == [1, 3, ROLLED, ROLLED]
    found = models.rows("select distinct superseded_by_run_id from run_rows where log_id = 'b' order by 1 nulls last")
    assert found == [("two",), (None,)]
    # Another run's own work is not lost with it
    campaign.tables["history_logs"][1]["run_id"] = "three"
    campaign.tables["history_logs"][3]["run_id"] = "four"
    campaign.tables["history_values"] = [
        v | {"metric": "apart"} if v["source_name"] == "d" and v["metric"] == "other" else v
        for v in campaign.tables["history_values"]
    ]
    assert labels(models, campaign)["b"] == [1, 3, 4, 5]


# Seams


def test_a_gap_of_exactly_the_seam_ratio_is_a_step(models):
    campaign = Campaign()
    campaign.log("a", "first", steps(0, 100, 200), run_name="arm")
    campaign.log("b", "second", steps(209, 309, 409), 5, run_name="arm")
    campaign.log("c", "third", steps(419, 519), 10, run_name="arm")
    assert labels(models, campaign) == {"a": [1, 2, SEAM], "b": [3, 4, 5], "c": [6, 7]}
    ratios = models.rows("select position, gap_ratio from run_rows order by position")
    assert ratios == [(0, None), (100, 1), (200, 1), (209, 0.09), (309, 1), (409, 1), (419, 0.1), (519, 1)]
    found = models.rows(
        "select widest_collapsed_gap_ratio, tightest_kept_gap_ratio, tightest_kept_seam_ratio from arms"
    )
    assert found == [(0.09, 0.1, 0.1)]


def test_inside_a_segment_nothing_is_collapsed_however_irregular(models):
    rows = [*steps(*range(10)), *steps(*range(200, 4400, 200))]
    assert labels(models, Campaign().log("a", "a", rows)) == {"a": list(range(1, 32))}


def test_an_evaluation_whose_step_was_collapsed_is_kept_on_the_step_that_stands(models):
    rows = [*steps(0, 100, 200), {"eval": 0.5}]
    campaign = Campaign().log("a", "a", rows, run_name="arm").log("b", "b", steps(205, 305), 5, run_name="arm")
    assert labels(models, campaign) == {"a": [1, 2, SEAM, 3], "b": [3, 4]}
    assert models.rows("select training_step, value from arm_metrics where metric = 'eval'") == [(3, 0.5)]
    assert models.rows("select run_id, row_count from arm_steps where training_step = 3") == [("b", 2)]


def test_a_chain_of_close_neighbours_of_several_segments_is_one_step(models):
    campaign = Campaign().log("a", "a", steps(0, 100, 200), run_name="arm")
    campaign.log("b", "b", steps(203), 5, run_name="arm").log("c", "c", steps(206, 306, 406), 10, run_name="arm")
    assert labels(models, campaign) == {"a": [1, 2, SEAM], "b": [SEAM], "c": [3, 4, 5]}
    found = models.rows("select log_id, superseded_by_run_id from run_rows where drop_reason is not null order by 1")
    assert found == [("a", "c"), ("b", "c")]
