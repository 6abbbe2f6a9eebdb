"""What the curve marts say of small histories whose answers are worked out by hand."""

import math
from datetime import datetime, timedelta

import pytest

from tests.python.support.models import Models

EPOCH = datetime(2026, 9, 1)
MARTS = [
    "runs",
    "arms",
    "metrics",
    "arm_metrics",
    "arm_steps",
    "logs",
    "curve_findings",
    "config_deviations",
    "segments",
]


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    return Models(tmp_path_factory.mktemp("home"), MARTS)


class Campaign:
    """Landing rows under construction."""

    def __init__(self):
        self.tables = {
            n: [] for n in ("landed_sources", "history_logs", "history_rows", "history_values", "history_config")
        }

    def log(self, log_id, run_id, rows, minute=0, kind="log", config=None, **facts):
        """Rows are dicts of values, one a second from `minute`; a value may be (value, text, key_path)."""
        start = EPOCH + timedelta(minutes=minute)
        self.tables["landed_sources"].append({"source_name": log_id, "path": f"/runs/{log_id}"})
        has_exit = facts.pop("has_exit_record", False if kind == "log" else None)
        self.tables["history_logs"].append(
            {
                "source_name": log_id,
                "run_id": run_id,
                "producer": "wandb",
                "source_kind": kind,
                "started_at": start,
                "has_exit_record": has_exit,
                "history_row_count": len(rows),
            }
            | facts
        )
        for key, value in (config or {}).items():
            self.tables["history_config"].append({"source_name": log_id, "config_key": key, "value_json": value})
        for i, values in enumerate(rows):
            row = {"source_name": log_id, "row_idx": i}
            self.tables["history_rows"].append(
                row | {"record_number": i + 1, "logged_at": start + timedelta(seconds=i)}
            )
            for metric, value in values.items():
                name, *_ = metric.split("@")  # `a@2` is a second row of the name `a`
                value, text, path = value if isinstance(value, tuple) else (value, None, None)
                self.tables["history_values"].append(
                    row | {"metric": name, "value": value, "value_text": text, "key_path": path}
                )
        return self

    def declare(self, table, **row):
        self.tables.setdefault(table, []).append(row)
        return self


def steps(*positions, **values):
    return [{"global_step": float(p)} | values for p in positions]


def test_the_arm_is_what_the_run_states_best(models):
    campaign = Campaign()
    every = {"run_name": "name__42__1789453662", "run_group": "group", "arm_in_path": "path"}
    campaign.log("a1", "assigned", steps(1), **every, config={"exp_name": '"exp"'})
    campaign.declare("arm_assignments", run_id="assigned", arm="declared arm", reason="by hand")
    campaign.log("b1", "experiment", steps(1), **every, config={"exp_name": '"exp"', "other": "1"})
    campaign.log("c1", "path", steps(1), **every, config={"exp_name": '""'})
    campaign.log("d1", "tail", steps(1), run_name="na__me__-1__1789453662", run_group="group")
    campaign.log("e1", "group", steps(1), run_name="name__1", run_group="group")
    campaign.log("f1", "name", steps(1), run_name="name__1__now", run_group="")
    campaign.log("g1", "id", steps(1), run_name="", run_group="")
    campaign.log("h1", "twice", steps(1), minute=1, config={"exp_name": '"older"'}, run_name="first", project="p1")
    campaign.log("h2", "twice", steps(2), minute=2, config={"exp_name": '"newer"'}, project="p2", state="crashed")
    campaign.log("h3", "twice", [], minute=3, run_name="last")
    campaign.log("i1", None, [], run_name="a log without a run record")
    models.run(campaign.tables)
    found = models.rows("select run_id, arm, run_name, project, state, started_at from runs order by run_id")
    at = EPOCH
    assert found == [
        ("assigned", "declared arm", "name__42__1789453662", None, None, at),
        ("experiment", "exp", "name__42__1789453662", None, None, at),
        ("group", "group", "name__1", None, None, at),
        ("id", "id", None, None, None, at),
        ("name", "name__1__now", "name__1__now", None, None, at),
        ("path", "path", "name__42__1789453662", None, None, at),
        ("tail", "na__me", "na__me__-1__1789453662", None, None, at),
        ("twice", "newer", "last", "p2", "crashed", at + timedelta(minutes=1)),
    ]
    assert models.rows("select run_id, row_count from logs where log_id = 'i1'") == [(None, 0)]


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
        ("run", 2, 2, 7, 10, 40, 4, 1, 2, 0, False, "global_step"),
    ]
    unpositioned = models.rows("select subject, detail from curve_findings where kind = 'unpositioned_rows'")
    assert unpositioned == [("run", "2 rows have no global_step and are on no curve")]
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
    campaign.declare("arms", arm="arm", expected_step_count=7, is_running=False, headline_metric="reward", note="short")
    campaign.declare("arms", arm="single", expected_step_count=1, is_running=True)
    models.run(campaign.tables)
    found = models.rows(
        "select arm, run_count, log_count, logged_row_count, lineage_count, longest_other_lineage_step_count, "
        "chosen_lineage_step_count, leaf_run_id, step_count, expected_step_count, is_running, is_complete, "
        "has_step_hole, median_gap, tightest_kept_gap_ratio, widest_collapsed_gap_ratio, headline_metric, note, "
        "position_key from arms order by arm"
    )
    # The curve: 0 100 200 300|306 406 408 426 1026: gaps 100 100 100 6 100 2 18 600, of which the median is 100.
    arm, single = found
    assert arm[:13] == ("arm", 3, 3, 19, 2, 10, 9, "resumed", 7, 7, False, True, True)
    assert arm[13:] == (100, 0.18, 0.06, "reward", "short", "global_step")
    assert single[:13] == ("single", 1, 1, 1, 1, None, 1, "alone", 1, 1, True, True, False)
    assert single[13:] == (None, None, None, "scores", None, "global_step")
    beyond = models.rows(
        "select training_step, is_beyond_step_hole, row_count from arm_steps where arm = 'arm' order by 1"
    )
    assert beyond == [(step, step == 7, 1) for step in range(1, 8)]
    collapsed = models.rows(
        "select run_id, position, superseded_by_run_id from run_rows "
        "where drop_reason = 'seam_collapsed' order by position"
    )
    assert collapsed == [("relaunch", 300, "resumed"), ("resumed", 406, "resumed")]
    kinds = models.rows("select kind, subject, severity from curve_findings order by 1, 2")
    assert kinds == [
        ("arm_running", "single", "info"),
        ("longer_lineage_not_chosen", "arm", "warn"),
        ("step_hole", "arm", "warn"),
    ]


@pytest.mark.parametrize(("ratio", "is_inside"), [(6, False), (7, True), (17, True), (18, False)])
def test_the_guard_band_is_open_at_both_ends(models, ratio, is_inside):
    campaign = Campaign().log("a1", "a", steps(0, 100, 200, 300, 400, 400 + ratio))
    models.run(campaign.tables)
    assert models.rows("select kind, subject from curve_findings") == ([("seam_guard_band", "a")] if is_inside else [])


@pytest.mark.parametrize(("gap", "has_hole"), [(500, False), (501, True)])
def test_a_hole_is_wider_than_five_median_gaps(models, gap, has_hole):
    campaign = Campaign().log("a1", "a", steps(0, 100, 200, 300, 300 + gap, 400 + gap))
    models.run(campaign.tables)
    assert models.rows("select has_step_hole from arms") == [(has_hole,)]


@pytest.mark.parametrize(("running", "found"), [(None, ["unexpected_step_count"]), (False, ["unexpected_step_count"])])
def test_a_complete_arm_with_other_steps_than_declared_is_found(models, running, found):
    campaign = (
        Campaign().log("a1", "a", steps(1, 2, 3)).declare("arms", arm="a", expected_step_count=4, is_running=running)
    )
    models.run(campaign.tables)
    assert [kind for (kind,) in models.rows("select kind from curve_findings")] == found
    assert models.rows("select is_complete from arms") == [(False,)]


@pytest.mark.parametrize(("seconds", "concurrent"), [(2, True), (3, False)])
def test_segments_that_overlap_in_time_are_found(models, seconds, concurrent):
    campaign = Campaign()
    campaign.log("a1", "a", steps(0, 1, 2, 3), run_name="arm")  # its last row is at second 3
    campaign.log("b1", "b", steps(0, 1), seconds / 60, run_name="arm")
    campaign.log("c1", "c", steps(0, 1, 2, 3, 4), 30, run_name="arm")
    models.run(campaign.tables)
    found = models.rows("select subject, detail from curve_findings where kind = 'concurrent_segments'")
    assert [s for s, _ in found] == (["arm"] if concurrent else [])
    assert all(d.startswith("1 segments start before an earlier one ended (first: segment 2)") for _, d in found)


def test_a_segment_inside_a_much_earlier_one_is_found(models):
    campaign = Campaign()
    campaign.log("a1", "a", steps(*range(1000)), run_name="arm")
    campaign.log("b1", "b", steps(0, 1), 1, run_name="arm")
    campaign.log("c1", "c", steps(0, 1, 2), 2, run_name="arm")
    models.run(campaign.tables)
    details = [d for (d,) in models.rows("select detail from curve_findings where kind = 'concurrent_segments'")]
    assert [d.split(")")[0] for d in details] == ["2 segments start before an earlier one ended (first: segment 2"]


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


def test_the_trainers_own_count_is_compared(models):
    rows = [{"global_step": float(10 * i), "training_step": float(i)} for i in range(1, 5)]
    rows[2]["training_step"] = rows[3]["training_step"] = 7.0
    campaign = Campaign().log("a1", "parts", rows)
    campaign.log("b1", "agrees", [{"global_step": float(i), "training_step": float(i)} for i in (1, 2)])
    models.run(campaign.tables)
    found = models.rows("select subject, detail from curve_findings where kind = 'trainer_step_differs'")
    assert found == [("parts", "training_step 3 is training_step 7.0")]


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


@pytest.mark.parametrize(("start", "kept_of_parent"), [(40, 9), (41, 0)])
def test_a_resume_reaches_two_median_gaps_back_and_rows_of_one_step_are_no_gap(models, start, kept_of_parent):
    campaign = Campaign()
    campaign.log("a1", "crashed", steps(0, 0, 0, 10, 10, 10, 20, 20, 20), run_name="arm")
    campaign.log("b1", "resumed", steps(start, start + 10), 1, run_name="arm")
    models.run(campaign.tables)
    kept = models.rows("select run_id, kept_row_count, other_lineage_row_count from runs order by run_id")
    assert kept == [("crashed", kept_of_parent, 9 - kept_of_parent), ("resumed", 2, 0)]


def test_of_two_trainers_counts_that_differ_at_one_step_the_first_by_name_is_told(models):
    rows = [{"global_step": float(i), "training_step": 7.0, "train/global_step": 8.0} for i in range(1, 5)]
    models.run(Campaign().log("a1", "arm", rows).tables)
    found = models.rows("select detail from curve_findings where kind = 'trainer_step_differs'")
    assert found == [("training_step 1 is train/global_step 8.0",)]


@pytest.mark.parametrize(("end", "is_found"), [(590, False), (580, True)])
def test_a_curve_that_ends_before_what_was_rolled_back_is_found(models, end, is_found):
    campaign = Campaign()
    campaign.log("a1", "long", steps(*range(0, 600, 10)), run_name="arm")
    campaign.log("b1", "relaunch", steps(*range(10, end + 1, 10)), 5, run_name="arm")
    models.run(campaign.tables)
    found = models.rows("select subject, detail from curve_findings where kind = 'rolled_back_beyond_end'")
    assert [s for s, _ in found] == (["arm"] if is_found else [])
    assert all("run long had reached position 590.0" in detail and "ends at 580.0" in detail for _, detail in found)


def test_what_another_lineage_had_reached_is_no_roll_back_beyond_the_end(models):
    campaign = Campaign()
    campaign.log("a1", "long", steps(*range(0, 600, 10)), run_name="arm")
    campaign.log("b1", "relaunch", steps(0, 10, 20), 5, run_name="arm")
    models.run(campaign.tables)
    kinds = models.rows("select kind from curve_findings where subject = 'arm'")
    assert kinds == [("longer_lineage_not_chosen",)]


def test_every_step_back_within_a_log_begins_a_segment(models):
    models.run(Campaign().log("a1", "a", steps(0, 10, 20, 10, 20, 30, 20, 30)).tables)
    found = models.rows("select segment_number, first_position, last_position, is_chosen from segments order by 1")
    assert found == [(1, 0, 20, True), (2, 10, 30, True), (3, 20, 30, True)]
    assert models.rows("select kept_row_count, rolled_back_row_count from runs") == [(4, 4)]


@pytest.mark.parametrize(("leaf", "chosen"), [("long", "long"), ("relaunch", "relaunch"), ("unknown", "relaunch")])
def test_a_declared_leaf_is_where_the_curve_ends(models, leaf, chosen):
    campaign = Campaign()
    campaign.log("a1", "long", steps(0, 10, 20, 30), run_name="arm")
    campaign.log("b1", "relaunch", steps(0, 10), 1, run_name="arm")
    campaign.declare("arms", arm="arm", leaf_run_id=leaf)
    models.run(campaign.tables)
    assert models.rows("select distinct run_id from arm_steps") == [(chosen,)]
    assert models.rows("select leaf_run_id from arms") == [(chosen,)]
