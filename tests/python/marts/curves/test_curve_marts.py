"""What the curve marts say of small histories whose answers are worked out by hand."""

import math
from datetime import timedelta

import pytest

from tests.python.support.campaign import EPOCH, Campaign, steps


def test_the_kind_with_the_most_rows_stands_and_ties_go_to_the_log_then_the_api(models):
    campaign = Campaign()
    campaign.log("a1", "more", steps(1, 2), kind="log").log("a2", "more", steps(3), kind="log", minute=1)
    campaign.log("a3", "more", steps(1, 2, 3, 4), kind="export")
    campaign.log("b1", "tie", steps(1, 2), kind="export").log("b2", "tie", steps(1, 2), kind="api")
    campaign.log("c1", "tie2", steps(1, 2), kind="api").log("c2", "tie2", steps(1, 2), kind="log")
    campaign.log("d1", "two logs", steps(1, 2), kind="log")
    campaign.log("d2", "two logs", steps(3, 4, 5), kind="log", minute=1)
    models.run(campaign.tables)
    duplicates = models.rows("select log_id from logs where is_duplicate_source order by log_id")
    assert duplicates == [("a1",), ("a2",), ("b1",), ("c1",)]
    counts = models.rows("select run_id, row_count, kept_row_count, duplicate_source_row_count from runs order by 1")
    assert counts == [("more", 7, 4, 3), ("tie", 4, 2, 2), ("tie2", 4, 2, 2), ("two logs", 5, 5, 0)]
    disagreeing = models.rows("select subject from curve_findings where kind = 'sources_disagree'")
    assert disagreeing == [("more",)]


@pytest.mark.parametrize(
    ("has_exit", "state", "unfinished"),
    [
        (True, None, False),
        (False, None, True),
        (None, "finished", False),
        (None, "failed", False),
        (None, "killed", False),
        (None, "running", True),
        (None, "crashed", True),
        (None, None, None),
    ],
)
def test_a_log_is_unfinished_without_an_end(models, has_exit, state, unfinished):
    campaign = Campaign()
    campaign.log("a1", "run", steps(1), kind="export", has_exit_record=has_exit, state=state)
    models.run(campaign.tables)
    assert models.rows("select is_unfinished from logs") == [(unfinished,)]


def test_a_run_sums_its_logs_and_takes_its_end_from_the_last(models):
    campaign = Campaign()
    campaign.log("a2", "run", [*steps(30, 40), {"scores": 1.0}], minute=5, has_exit_record=True)
    campaign.log("a1", "run", [*steps(10, 20, 30), {"global_step": math.nan}], minute=1)
    campaign.log("b1", "empty", [], minute=1)
    campaign.log("c1", "excluded", steps(1, 2, 3))
    second = EPOCH + timedelta(seconds=1)
    campaign.declare("run_exclusions", run_id="excluded", logged_from=second)
    campaign.declare("arms", arm="empty", expected_step_count=5)
    models.run(campaign.tables)
    found = models.rows(
        "select run_id, log_count, segment_count, row_count, first_position, last_position, kept_row_count, "
        "rolled_back_row_count, unpositioned_row_count, excluded_row_count, is_unfinished, position_key "
        "from runs order by run_id"
    )
    assert found == [
        ("empty", 1, 0, 0, None, None, 0, 0, 0, 0, True, None),
        ("excluded", 1, 1, 3, 1, 1, 1, 0, 0, 2, True, "global_step"),
        ("run", 2, 2, 7, 10, 40, 5, 2, 0, 0, False, "global_step"),
    ]
    empty = models.rows("select lineage_count, step_count, has_step_hole, is_complete from arms where arm = 'empty'")
    assert empty == [(0, 0, False, False)]
    without = models.rows("select subject from curve_findings where kind = 'arm_without_kept_steps' order by 1")
    assert without == [("empty",)]


@pytest.mark.parametrize(
    ("exclusion", "excluded"),
    [
        ({"run_id": "a"}, {"a": [0, 1, 2], "b": []}),
        ({"arm": "one"}, {"a": [0, 1, 2], "b": [0, 1, 2]}),
        ({"arm": "other"}, {"a": [], "b": []}),
        ({"run_id": "a", "arm": "other"}, {"a": [], "b": []}),
        ({}, {"a": [], "b": []}),
        ({"run_id": "a", "logged_from": 1}, {"a": [1, 2], "b": []}),
        ({"run_id": "b", "logged_until": 61}, {"a": [], "b": [0]}),
        ({"arm": "one", "logged_from": 2, "logged_until": 61}, {"a": [2], "b": [0]}),
    ],
)
def test_exclusions_take_from_inclusive_until_exclusive(models, exclusion, excluded):
    campaign = Campaign()
    campaign.log("a1", "a", steps(1, 2, 3), run_name="one").log("b1", "b", steps(4, 5, 6), 1, run_name="one")
    times = {k: EPOCH + timedelta(seconds=v) for k, v in exclusion.items() if k.startswith("logged")}
    campaign.declare("run_exclusions", **(exclusion | times))
    models.run(campaign.tables)
    found = models.rows("select run_id, row_idx from usable_rows where drop_reason = 'excluded' order by 1, 2")
    assert found == [(run, row) for run, rows in excluded.items() for row in rows]


def test_two_exclusions_of_one_row_exclude_it_once(models):
    campaign = Campaign().log("a1", "a", steps(1, 2, 3))
    campaign.declare("run_exclusions", run_id="a").declare("run_exclusions", run_id="a")
    models.run(campaign.tables)
    assert models.rows("select row_count, excluded_row_count, kept_row_count from runs") == [(3, 3, 0)]


def test_an_arm_shows_its_lineages_and_margins(models):
    campaign = Campaign()
    campaign.log("a1", "long", steps(*range(0, 1000, 100)), run_name="arm")
    campaign.log("b1", "relaunch", steps(0, 100, 200, 300), 1, run_name="arm")
    campaign.log("c1", "resumed", steps(306, 406, 408, 426, 1026), 2, run_name="arm")
    campaign.log("d1", "alone", steps(5), run_name="single")
    campaign.declare("arms", arm="arm", expected_step_count=8, is_running=False, headline_metric="reward", note="short")
    campaign.declare("arms", arm="single", expected_step_count=1, is_running=True)
    models.run(campaign.tables)
    found = models.rows(
        "select arm, run_count, log_count, logged_row_count, lineage_count, longest_other_lineage_step_count, "
        "chosen_lineage_step_count, leaf_run_id, step_count, expected_step_count, is_running, is_complete, "
        "has_step_hole, median_gap, tightest_kept_gap_ratio, tightest_kept_seam_ratio, widest_collapsed_gap_ratio, "
        "headline_metric, note, position_key from arms order by arm"
    )
    # The curve: 0 100 200 300|306 406 408 426 1026: gaps 100 100 100 6 100 2 18 600, of which the median is 100. Only
    # 300 and 306 are of two segments.
    arm, single = found
    assert arm[:13] == ("arm", 3, 3, 19, 2, 10, 9, "resumed", 8, 8, False, True, True)
    assert arm[13:] == (100, 0.02, None, 0.06, "reward", "short", "global_step")
    assert single[:13] == ("single", 1, 1, 1, 1, None, 1, "alone", 1, 1, True, True, False)
    assert single[13:] == (None, None, None, None, "scores", None, "global_step")
    beyond = models.rows(
        "select training_step, is_beyond_step_hole, row_count from arm_steps where arm = 'arm' order by 1"
    )
    assert beyond == [(step, step == 8, 1) for step in range(1, 9)]
    collapsed = models.rows(
        "select run_id, position, superseded_by_run_id from run_rows "
        "where drop_reason = 'seam_collapsed' order by position"
    )
    assert collapsed == [("relaunch", 300, "resumed")]
    kinds = models.rows("select kind, subject, severity from curve_findings order by 1, 2")
    assert kinds == [
        ("arm_running", "single", "info"),
        ("longer_lineage_not_chosen", "arm", "warn"),
        ("seam_guard_band", "arm", "info"),
        ("step_hole", "arm", "warn"),
    ]


@pytest.mark.parametrize(("gap", "has_hole"), [(500, False), (501, True)])
def test_a_hole_is_wider_than_five_median_gaps(models, gap, has_hole):
    campaign = Campaign().log("a1", "a", steps(0, 100, 200, 300, 300 + gap, 400 + gap))
    models.run(campaign.tables)
    assert models.rows("select has_step_hole from arms") == [(has_hole,)]


def test_metrics_tell_dead_nan_null_and_text_apart(models):
    rows = [
        {"dead": 0.0, "mixed": 0.0, "nan": math.nan, "null": None, "text": (None, '"a"', None), "both": 1.0, "_x": 1.0},
        {"dead": 0.0, "mixed": 2.0, "nan": math.nan, "null": None, "both": (None, '"b"', None), "zero_text": 0.0},
        {"dead": None, "mixed": -1.0, "nan": 3.0, "zero_text": (None, "true", None), "zero_nan": math.nan},
        {"zero_nan": 0.0},
    ]
    rows = [row | {"global_step": float(i)} for i, row in enumerate(rows)]
    campaign = Campaign().log("a1", "a", rows).log("b1", "b", [{"global_step": 0.0, "dead": 0.0, "null": None}])
    models.run(campaign.tables)
    found = models.rows(
        "select metric, arm_count, value_count, nan_count, null_count, text_count, min_value, max_value, is_dead "
        "from metrics order by metric"
    )
    assert found == [
        ("both", 1, 1, 0, 0, 1, 1, 1, False),
        ("dead", 2, 3, 0, 1, 0, 0, 0, True),
        ("global_step", 2, 5, 0, 0, 0, 0, 3, False),
        ("mixed", 1, 3, 0, 0, 0, -1, 2, False),
        ("nan", 1, 3, 2, 0, 0, 3, 3, False),
        ("null", 0, 0, 0, 3, 0, None, None, False),
        ("text", 1, 0, 0, 0, 1, None, None, False),
        ("zero_nan", 1, 2, 1, 0, 0, 0, 0, False),
        ("zero_text", 1, 1, 0, 0, 1, 0, 0, False),
    ]
    found = models.rows("select kind, subject from curve_findings where domain = 'curves' order by 1, 2")
    assert found == [("dead_metric", "dead"), ("text_among_numbers", "both"), ("text_among_numbers", "zero_text")]


def test_a_step_in_several_rows_takes_the_last_value_that_is_not_null(models):
    rows = [
        {"global_step": 1.0, "a": 1.0, "b": 1.0, "c": None, "d": 5.0},
        {"global_step": 1.0, "a": 2.0, "b": None, "c": None, "d": (None, '"x"', None)},
        {"global_step": 1.0, "e": math.nan},
        {"global_step": 2.0, "a": 9.0},
    ]
    models.run(Campaign().log("a1", "a", rows).tables)
    values = models.rows(
        "select metric, value, value_text from arm_metrics "
        "where training_step = 1 and metric <> 'global_step' order by metric"
    )
    assert values[:4] == [("a", 2, None), ("b", 1, None), ("c", None, None), ("d", None, '"x"')]
    assert values[4][0] == "e"
    assert math.isnan(values[4][1])
    assert models.rows("select training_step, row_count from arm_steps order by 1") == [(1, 3), (2, 1)]


def test_two_keys_of_one_name_are_a_finding_and_the_plain_one_stands(models):
    plain = {"global_step": 1.0, "a.b": 1.0, "a.b@2": (2.0, None, '["a","b"]'), "n.m": (3.0, None, '["n","m"]')}
    paths = {"global_step": 1.0, "x.y.z": (4.0, None, '["x","y.z"]'), "x.y.z@2": (5.0, None, '["x.y","z"]')}
    campaign = Campaign().log("a1", "a", [plain]).log("b1", "b", [{"global_step": 1.0, "a.b": 1.0, "n.m": 1.0}])
    campaign.log("c1", "c", [paths]).log("a2", "a", [plain], 1)
    models.run(campaign.tables)
    values = models.rows(
        "select arm, training_step, metric, value from arm_metrics where metric <> 'global_step' order by 1, 2, 3"
    )
    assert values == [
        ("a", 1, "a.b", 1),
        ("a", 1, "n.m", 3),
        ("b", 1, "a.b", 1),
        ("b", 1, "n.m", 1),
        ("c", 1, "x.y.z", 4),
    ]
    found = models.rows("select subject from curve_findings where kind = 'metric_name_collision' order by 1")
    assert found == [("a a.b",), ("c x.y.z",)]


def test_config_deviations_compare_numbers_as_numbers_and_the_longest_pattern_rules(models):
    campaign = Campaign()
    config = {"pack": "40960.0", "parser": '"vllm_hermes"', "lr": "1e-6", "layers": "[1,2]", "free": "1"}
    campaign.log("a1", "a", [], run_name="arm-a", config=config | {"seen": "1"})
    campaign.log("a2", "a", [], minute=1, run_name="arm-a", config={"seen": "2"})
    campaign.log("b1", "b", [], run_name="arm-b", config={"pack": "67584", "parser": '"vllm_hermes"', "seen": "2"})
    campaign.log("c1", "c", [], run_name="else", config={"pack": "1"})
    campaign.declare("frozen_recipe", arm_pattern="arm-*", config_key="pack", value="67584", affects_learning=True)
    campaign.declare("frozen_recipe", arm_pattern="*", config_key="parser", value="vllm_qwen3_xml")
    campaign.declare("frozen_recipe", arm_pattern="arm-b", config_key="parser", value="vllm_hermes")
    campaign.declare("frozen_recipe", arm_pattern="arm-?", config_key="lr", value="0.000001")
    campaign.declare("frozen_recipe", arm_pattern="arm-?", config_key="layers", value="[1,2,3]", note="other")
    campaign.declare("frozen_recipe", arm_pattern="arm-?", config_key="seen", value="2")
    campaign.declare("frozen_recipe", arm_pattern="arm-?", config_key="absent", value="2")
    models.run(campaign.tables)
    found = models.rows(
        "select arm, run_id, config_key, value, recipe_value, affects_learning, note from config_deviations "
        "order by arm, config_key"
    )
    assert found == [
        ("arm-a", "a", "layers", "[1,2]", "[1,2,3]", None, "other"),
        ("arm-a", "a", "pack", "40960.0", "67584", True, None),
        ("arm-a", "a", "parser", "vllm_hermes", "vllm_qwen3_xml", None, None),
    ]


@pytest.mark.parametrize(
    ("key", "declared", "interval"),
    [
        ("train/global_step", None, 10),  # counts the trainer's steps
        ("iteration", None, None),
        ("iteration", "iteration", 10),
        ("global_step", None, 2),  # what the trainer's own step says
    ],
)
def test_the_logging_interval_is_known_where_something_counts_the_trainers_steps(models, key, declared, interval):
    rows = [{key: 10.0 * i, "loss": 1.0} for i in range(5)]
    if key == "global_step":
        rows = [row | {"training_step": 2.0 * i} for i, row in enumerate(rows)]
    campaign = Campaign().log("a", "a", rows)
    if declared:
        campaign.declare("arms", arm="a", position_key=declared)
    models.run(campaign.tables)
    assert models.rows("select logging_interval from arms") == [(interval,)]


def test_of_several_tracks_the_main_ones_value_stands(models):
    campaign = Campaign()
    campaign.log("a", "a", [{"global_step": 1.0, "scores": 1.0, "epoch": 3.0}], run_name="arm")
    campaign.log("b", "b", [{"global_step": 1.0, "loss": 1.0, "epoch": 7.0}], 5, run_name="arm")
    models.run(campaign.tables)
    found = models.rows("select metric, value from arm_metrics order by metric")
    assert found == [("epoch", 3), ("global_step", 1), ("loss", 1), ("scores", 1)]
