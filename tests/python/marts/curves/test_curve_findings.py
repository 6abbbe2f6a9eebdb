"""What the findings say of small histories, and what settles them."""

import csv
import re

import pytest

from homes.schema import tables
from tests.python.support.campaign import Campaign, steps
from tests.python.support.command import ROOT


def findings(models, campaign) -> list[tuple]:
    models.run(campaign.tables)
    return models.rows("select kind, subject from curve_findings order by 1, 2")


def remedies(models, campaign, kind: str) -> list[str]:
    """The remedies of a kind's findings; each stands in the mart once."""
    models.run(campaign.tables)
    return [r for (r,) in models.rows(f"select remedy from curve_findings where kind = '{kind}' order by subject")]


def settled(models, campaign, kind: str) -> bool:
    """Whether pasting the lines that a kind's findings offer makes these findings go."""
    for remedy in remedies(models, campaign, kind):
        for line in remedy.splitlines():
            file, _, cells = line.partition(": ")
            name = file.removeprefix("declared/").removesuffix(".csv")
            names = tables()[name].schema.names
            row = {key: cell or None for key, cell in zip(names, next(csv.reader([cells])), strict=True)}
            keys = tables()[name].key
            lines = campaign.tables.setdefault(name, [])
            lines[:] = [r for r in lines if [r.get(k) for k in keys] != [row[k] for k in keys]]
            lines.append({k: int(v) if v and v.isdigit() and "count" in k else v for k, v in row.items() if v})
    return not remedies(models, campaign, kind)


@pytest.mark.parametrize(("ratio", "is_inside"), [(5, False), (6, True), (18, True), (19, False)])
def test_only_seams_are_looked_for_in_the_guard_band(models, ratio, is_inside):
    campaign = Campaign().log("a1", "a", steps(0, 100, 200, 300, 400), run_name="arm")
    campaign.log("b1", "b", steps(400 + ratio, 500 + ratio, 500 + 2 * ratio), 5, run_name="arm")
    assert findings(models, campaign) == ([("seam_guard_band", "arm")] if is_inside else [])


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
    assert all(
        d.startswith("1 segments start before an earlier one of another log ended (first: segment 2)") for _, d in found
    )


def test_a_segment_inside_a_much_earlier_one_is_found(models):
    campaign = Campaign()
    campaign.log("a1", "a", steps(*range(1000)), run_name="arm")
    campaign.log("b1", "b", steps(0, 1), 1, run_name="arm")
    campaign.log("c1", "c", steps(0, 1, 2), 2, run_name="arm")
    models.run(campaign.tables)
    details = [d for (d,) in models.rows("select detail from curve_findings where kind = 'concurrent_segments'")]
    assert [d.split(")")[0] for d in details] == [
        "2 segments start before an earlier one of another log ended (first: segment 2"
    ]


def test_the_trainers_own_count_is_compared(models):
    rows = [{"global_step": float(10 * i), "training_step": float(i)} for i in range(1, 5)]
    rows[2]["training_step"] = rows[3]["training_step"] = 7.0
    campaign = Campaign().log("a1", "parts", rows)
    campaign.log("b1", "agrees", [{"global_step": float(i), "training_step": float(i)} for i in (1, 2)])
    models.run(campaign.tables)
    found = models.rows("select subject, detail from curve_findings where kind = 'trainer_step_differs'")
    assert found == [("parts", "training_step 3 is training_step 7.0")]


def test_of_two_trainers_counts_the_first_of_the_var_is_compared(models):
    rows = [{"global_step": float(i), "training_step": 7.0, "train/global_step": 8.0} for i in range(1, 5)]
    models.run(Campaign().log("a1", "arm", rows).tables)
    found = models.rows("select detail from curve_findings where kind = 'trainer_step_differs'")
    assert found == [("training_step 1 is training_step 7.0",)]


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


def test_a_longer_lineage_that_was_passed_over_is_found_and_can_be_chosen(models):
    campaign = Campaign().log("a", "long", steps(*range(0, 600, 10)), run_name="arm, the first")
    campaign.log("b", "short", steps(0, 10, 20), 50, run_name="arm, the first")
    campaign.declare("arms", arm="arm, the first", headline_metric="loss", expected_step_count=60)
    assert remedies(models, campaign, "longer_lineage_not_chosen") == [
        'declared/arms.csv: "arm, the first",60,,,,loss,long,'
    ]
    assert settled(models, campaign, "longer_lineage_not_chosen")
    assert models.rows("select step_count, is_complete from arms") == [(60, True)]


def test_a_run_whose_last_segment_is_another_can_not_be_declared(models):
    campaign = Campaign().log("a", "one", steps(*range(0, 600, 10)), run_name="arm")
    campaign.log("b", "one", steps(0, 10, 20), 50, run_name="arm")
    assert remedies(models, campaign, "longer_lineage_not_chosen") == ["docs/findings.md#longer_lineage_not_chosen"]


@pytest.mark.parametrize(
    ("ended", "reach", "is_found"),
    [((True, True), 90, True), ((True, False), 90, False), ((True, True), 80, False), ((False, True), 90, False)],
)
def test_several_starts_that_were_trained_to_their_end_are_found(models, ended, reach, is_found):
    campaign = Campaign()
    first, second = ({"has_exit_record": end, "run_name": "arm"} for end in ended)
    campaign.log("a", "a", steps(*range(0, 101, 10)), config={"warmup": "1", "note": '"x"'}, **first)
    campaign.log("b", "b", steps(*range(0, reach + 1, 10)), 9, config={"warmup": "2"}, **second)
    found = findings(models, campaign)
    assert (("several_complete_starts", "arm") in found) == is_found
    if is_found:
        detail = models.rows("select detail from curve_findings where kind = 'several_complete_starts'")[0][0]
        assert detail.endswith("(runs a, b): repeats, seeds or relaunches? Their configs differ in note, warmup")
        assert remedies(models, campaign, "several_complete_starts") == ["declared/arm_assignments.csv: a,,,,arm [a],"]
        assert settled(models, campaign, "several_complete_starts")
        assert models.rows("select arm, step_count from arms order by 1") == [("arm", 10), ("arm [a]", 11)]


@pytest.mark.parametrize(("first", "is_found"), [(60, True), (50, False), (45, False)])
def test_a_curve_that_begins_late_is_found(models, first, is_found):
    campaign = Campaign().log("a", "a", steps(*range(first, first + 100, 10)))
    assert findings(models, campaign) == ([("late_start", "a")] if is_found else [])


def test_a_relaunch_that_logs_more_rarely_does_not_begin_late(models):
    # Its first step is one of its own gaps from nothing: the arm's usual gap of 1 says nothing about it
    campaign = Campaign().log("a", "a", steps(*range(1, 31)), run_name="arm")
    campaign.log("b", "b", steps(*range(10, 71, 10)), 9, run_name="arm")
    assert ("late_start", "arm") not in findings(models, campaign)
    assert models.rows("select min(position), count(*) from arm_steps") == [(10, 7)]


@pytest.mark.parametrize(("first", "is_found"), [(50, False), (60, True)])
def test_a_start_that_nothing_led_to_is_found_and_can_stand_alone(models, first, is_found):
    campaign = Campaign().log("a", "a", steps(*range(0, 31, 10)), run_name="arm")
    campaign.log("b", "b", steps(*range(first, first + 50, 10)), 9, run_name="arm")
    found = findings(models, campaign)
    # 30 and two gaps are 50
    assert (("orphan_start", "b") in found) == is_found
    assert ("late_start", "arm") not in found
    assert settled(models, campaign, "orphan_start")


def test_an_axis_that_restarts_while_a_counter_goes_on_is_found(models):
    def rows(first):
        return [
            {"_step": s, "env/frames_samples": 1.0, "train/tokens": 10.0 * (first + s), "loss": 1.0} for s in range(9)
        ]

    campaign = Campaign().log("a", "a", rows(0), run_name="arm").log("b", "b", rows(7), 9, run_name="arm")
    assert findings(models, campaign) == [("axis_restarts", "arm")]
    assert remedies(models, campaign, "axis_restarts") == ["declared/arms.csv: arm,,,,train/tokens,,,"]
    assert settled(models, campaign, "axis_restarts")
    assert models.rows("select step_count from arms") == [(16,)]


@pytest.mark.parametrize("first", [0, 6])
def test_an_axis_that_restarts_with_all_counters_is_a_relaunch(models, first):
    def rows(start):
        return [{"_step": s, "train/tokens": 10.0 * (start + s), "loss": 1.0} for s in range(9)]

    # Two gaps before 80 are 60: from 60 on a counter goes on where it was
    campaign = Campaign().log("a", "a", rows(0), run_name="arm").log("b", "b", rows(first), 9, run_name="arm")
    assert findings(models, campaign) == ([("axis_restarts", "arm")] if first >= 6 else [])


def test_a_trainers_counter_that_falls_along_the_curve_is_found(models):
    rows = [{"global_step": float(i), "training_step": float(t), "loss": 1.0} for i, t in enumerate((1, 2, 3, 2, 3, 4))]
    campaign = Campaign().log("a", "a", rows)
    models.run(campaign.tables)
    found = models.rows("select detail, remedy from curve_findings where kind = 'counter_falls'")
    assert found == [
        (
            "training_step falls from 3.0 to 2.0 at training_step 4: along its x-axis, global_step, the "
            "trainer went back",
            "declared/arms.csv: a,,,,training_step,,,",
        )
    ]
    assert settled(models, campaign, "counter_falls")
    assert models.rows("select step_count from arms") == [(4,)]


def test_arms_of_a_project_that_log_every_so_many_steps_are_found(models):
    campaign = Campaign()
    for i, (project, gap) in enumerate((("p", 1), ("p", 10), ("q", 1), (None, 1), (None, 1))):
        campaign.log(f"l{i}", f"r{i}", steps(*range(0, 5 * gap, gap), key="train/global_step"), project=project)
    models.run(campaign.tables)
    found = models.rows("select subject, severity, detail from curve_findings where kind = 'logging_intervals_differ'")
    assert [(subject, severity) for subject, severity, _ in found] == [("p", "info")]
    assert "every 1.0 to every 10.0 steps" in found[0][2]


def test_runs_at_once_can_be_given_arms_of_their_own(models):
    campaign = (
        Campaign().log("a", "a", steps(*range(100)), run_name="arm").log("b", "b", steps(0, 1), 1, run_name="arm")
    )
    assert remedies(models, campaign, "concurrent_segments") == ["declared/arm_assignments.csv: b,,,,arm [b],"]
    assert settled(models, campaign, "concurrent_segments")
    # Other metrics may be logged beside, and one run can not be two arms
    campaign = Campaign().log("a", "a", steps(*range(100))).log("b", "a", steps(0, 1, other=1.0), 1)
    assert findings(models, campaign) == []
    campaign = Campaign().log("a", "a", steps(*range(100))).log("b", "a", steps(0, 1), 1)
    assert remedies(models, campaign, "concurrent_segments") == ["docs/findings.md#concurrent_segments"]


def test_variants_can_be_united_by_one_line_or_by_their_ids(models):
    campaign = Campaign()
    for seed in (1, 2):
        name = f"ppo__{seed}__178945366{seed}"
        campaign.log(f"l{seed}", f"r{seed}", steps(1), seed, run_name=name, config={"seed": f"{seed}"})
    assert remedies(models, campaign, "arms_differ_in_config_alone") == ["declared/arm_assignments.csv: ,,ppo*,,ppo,"]
    campaign.log("other", "other", steps(1), 5, run_name="ppo-large")
    assert remedies(models, campaign, "arms_differ_in_config_alone") == [
        "declared/arm_assignments.csv: r1,,,,ppo,\ndeclared/arm_assignments.csv: r2,,,,ppo,"
    ]
    assert settled(models, campaign, "arms_differ_in_config_alone")
    assert models.rows("select arm, run_count from arms order by 1") == [("ppo", 2), ("ppo-large", 1)]


def test_the_columns_of_offered_lines_are_the_files():
    macro = (ROOT / "macros" / "remedies.sql").read_text()
    for file, columns in re.findall(r"'(\w+)': \[([^]]+)\]", macro):
        assert re.findall(r"'(\w+)'", columns) == tables()[file].schema.names
