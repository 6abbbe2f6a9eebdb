"""The oracle of the stitch, rule by rule: what the cases do not show."""

from collections import Counter

import pytest

from tests.python.support.stitch.look import arms, labels, ordinals, points, positions, run
from tests.python.support.stitch.oracle import Axis, Declared, Row, stitch

FIRST = 1_700_000_000


def test_rows_that_step_sync_wrote_start_nothing():
    a = run("a", range(0, 200, 10), axes=[Axis("*", "global_step")])
    for written in (0, 190):
        b = run("b", range(150, 300, 10), at=1, axes=[Axis("*", "global_step")])
        b.rows.insert(0, Row(None, FIRST + 3590, {"val/loss": 1.0, "global_step": written}))
        found = stitch([a, b], Declared())
        assert labels(found, "a") == ["kept"] * 15 + ["rolled_back"] * 5
        assert (found.rows["b", 0].position_source, found.rows["b", 0].training_step) == ("carried", 16)
        assert points(found, "global_step")[16] == 150


def test_a_late_evaluation_rolls_nothing_back():
    log = run("a", range(1, 21))
    log.rows.insert(12, Row(None, None, {"eval/pass1": 0.5, "global_step": 10}))
    found = stitch([log], Declared())
    assert labels(found, "a") == ["kept"] * 21
    assert points(found, "eval/pass1") == {10: 0.5}


def test_an_evaluation_without_an_axis_follows_its_step():
    a, b = run("a", range(0, 100, 10)), run("b", range(61, 100, 10), at=1)
    for log in (a, b):
        for n in range(len(log.rows), 0, -2):
            log.rows.insert(n, Row(None, None, {"eval/pass1": float(log.rows[n - 1].values["global_step"])}))
    found = stitch([a, b], Declared())
    assert positions(found) == [0, 10, 20, 30, 40, 50, 60, 61, 71, 81, 91]  # 1 / 10 is not below the ratio
    assert points(found, "eval/pass1") == {2: 10, 4: 30, 6: 50, 9: 71, 11: 91}
    assert Counter(labels(found, "a")) == {"kept": 10, "rolled_back": 5}


def test_an_evaluation_carried_to_a_collapsed_step_stays_on_the_standing_one():
    a, b = run("a", range(0, 2000, 100)), run("b", range(1905, 3000, 100), at=1)
    a.rows.append(Row(None, None, {"eval/pass1": 0.5}))
    found = stitch([a, b], Declared())
    assert labels(found, "a") == ["kept"] * 19 + ["seam_collapsed", "kept"]
    assert points(found, "eval/pass1") == {20: 0.5}
    assert found.steps["grpo", 20].position == 1905


def test_another_track_of_the_run_is_rolled_back_with_it():
    main = run("a", range(0, 100, 10), metrics=["scores"], log_id="a-main")
    side = run("a", range(0, 100, 10), metrics=["lag"], log_id="a-side")
    again = run("b", range(60, 150, 10), metrics=["scores"], at=1)
    found = stitch([main, side, again], Declared())
    assert labels(found, "a-side") == ["kept"] * 6 + ["rolled_back"] * 4
    assert found.rows["a-side", 9].superseded_by_run_id == "b"
    assert list(points(found, "lag")) == [1, 2, 3, 4, 5, 6]


def test_an_axis_in_one_launch_only_leaves_the_other_unpositioned():
    a, b = run("a", range(1, 9)), run("b", range(1, 9), "steps_done", at=1)
    found = stitch([a, b], Declared())
    assert labels(found, "b") == ["unpositioned"] * 8
    b = run("b", range(5, 12), "train/global_step", at=1)
    found = stitch([a, b], Declared())
    assert labels(found, "a") == ["kept"] * 4 + ["rolled_back"] * 4
    assert labels(found, "b") == ["kept"] * 7


def test_the_source_with_most_rows_stands_and_exclusions_supersede_nothing():
    logs = [run("a", range(9)), run("a", range(4), kind="export", log_id="a-export"), run("b", range(3, 12), at=1)]
    found = stitch(logs, Declared(exclusions=[("b", None, FIRST + 3600 + 120, None)]))
    assert labels(found, "a-export") == ["duplicate_source"] * 4
    assert labels(found, "b") == ["kept"] * 2 + ["excluded"] * 7
    assert labels(found, "a") == ["kept"] * 3 + ["rolled_back"] * 6


def test_an_evaluation_at_a_restart_inside_a_log_is_its_start():
    log = run("a", [*range(1, 13), 10, 11, 12, 13])
    log.rows[12].values = {"global_step": 10, "eval/pass1": 0.5}
    found = stitch([log], Declared())
    assert labels(found, "a") == ["kept"] * 9 + ["rolled_back"] * 3 + ["kept"] * 4


def test_a_late_row_between_two_rows_of_one_step():
    log = run("a", [11, 12, 12, 13])
    log.rows[2].values = {"global_step": 12, "kl": 1.0}
    log.rows.insert(2, Row(None, None, {"eval/pass1": 0.5, "global_step": 11}))
    assert labels(stitch([log], Declared()), "a") == ["kept"] * 5


def test_the_trackers_step_tells_only_where_it_differs_by_a_constant():
    log = run("a", range(10, 60, 10), "training/global_step", step_from=3)
    log.rows.append(Row(9, None, {"val/reward": 0.3}))
    found = stitch([log], Declared())
    assert (found.rows["a", 5].position, found.rows["a", 5].position_source) == (50, "carried")
    for n, row in enumerate(log.rows[:5]):
        row.step = 10 * n + 7
    log.rows[5].step = 52
    found = stitch([log], Declared())
    assert (found.rows["a", 5].position, found.rows["a", 5].position_source) == (55, "tracker_step")
    log.rows = [log.rows[0], log.rows[5]]
    assert stitch([log], Declared()).rows["a", 1].position_source == "carried"


def test_a_declared_step_metric_comes_before_a_key_of_the_same_name():
    log = run("a", range(1, 9), "train/step", axes=[])
    log.rows.append(Row(None, None, {"eval/pass1": 0.5, "eval/step": 8, "judge/step": 9}))
    assert stitch([log], Declared()).rows["a", 8].position == 8
    log.axes.append(Axis("eval/*", "judge/step"))
    assert stitch([log], Declared()).rows["a", 8].position == 9


def test_two_resumes_of_one_checkpoint_are_two_lineages():
    logs = [run("a", range(0, 200, 10)), run("b", range(100, 200, 10), at=1), run("c", range(100, 200, 10), at=2)]
    found = stitch(logs, Declared())
    assert labels(found, "b") == ["other_lineage"] * 10
    assert {found.rows["a", n].superseded_by_run_id for n in range(10, 20)} == {"c"}


def test_a_start_below_one_gap_is_a_resume_only_a_whole_step_above():
    a = run("a", [3, 13, 23, 33])
    assert labels(stitch([a, run("b", [8, 18, 28], at=1)], Declared()), "a") == ["other_lineage"] * 4
    a = run("a", [0, 10, 20, 30])
    assert labels(stitch([a, run("b", [10, 20, 30], at=1)], Declared()), "a") == ["kept"] + ["rolled_back"] * 3


def test_a_trainers_step_above_its_first_does_not_start_over():
    a, b = run("a", range(1000, 9000, 1000)), run("b", range(2500, 9500, 1000), at=1)
    for log in (a, b):
        for n, row in enumerate(log.rows):
            row.values["training_step"] = n + (log is b)
    assert labels(stitch([a, b], Declared()), "a") == ["kept"] * 2 + ["rolled_back"] * 6


def test_another_track_is_rolled_back_only_where_its_run_was_and_before():
    main = run("a", range(0, 100, 10), metrics=["scores"], log_id="a-main")
    again = run("b", range(60, 150, 10), metrics=["scores"], at=1)
    of_another_run = run("c", range(0, 100, 10), metrics=["lag"], at=0)
    assert labels(stitch([main, again, of_another_run], Declared()), "c") == ["kept"] * 10
    side = run("a", range(0, 100, 10), metrics=["lag"], log_id="a-side")
    for row in side.rows[8:]:
        row.logged_at += 2 * 3600
    assert (
        labels(stitch([main, again, side], Declared()), "a-side") == ["kept"] * 6 + ["rolled_back"] * 2 + ["kept"] * 2
    )


def test_segments_of_axes_alone_are_one_track():
    found = stitch([run("a", range(9), metrics=["epoch"]), run("b", range(5, 12), metrics=["epoch"], at=1)], Declared())
    assert labels(found, "a") == ["kept"] * 5 + ["rolled_back"] * 4


def test_a_null_replaces_no_value_and_nan_does():
    log = run("a", [1, 1, 1, 2])
    log.rows[1].values["loss"] = None
    log.rows[2].values |= {"loss": None, "kl": None}
    log.rows[3].values["kl"] = None
    assert points(stitch([log], Declared()), "loss") == {1: 10.0, 2: 13.0}
    assert points(stitch([log], Declared()), "kl") == {1: None, 2: None}
    log.rows[2].values["loss"] = float("nan")
    assert points(stitch([log], Declared()), "loss")[1] != points(stitch([log], Declared()), "loss")[1]


def test_the_main_track_says_what_the_axis_was():
    main, side = run("a", [2, 4, 6], metrics=["scores"]), run("b", [1, 4.5, 9, 9.5], metrics=["lag"], at=1)
    found = stitch([main, side], Declared())
    assert points(found, "global_step") == {1: 2, 2: 4, 3: 6}
    assert points(found, "lag") == {1: 10.0, 2: 11.0, 3: 13.0}
    assert ordinals(found, "b") == [1, 2, 3, 3]


def test_the_first_launch_that_redid_a_row_is_named():
    logs = [run("a", range(0, 310, 10)), run("b", range(200, 310, 10), at=1), run("c", range(100, 310, 10), at=2)]
    found = stitch(logs, Declared(leaf_run_ids={"grpo": "c"}))
    assert [found.rows["a", n].superseded_by_run_id for n in (10, 25)] == ["c", "c"]  # c resumed a: b is aside
    logs[2] = run("c", range(250, 410, 10), at=2)
    found = stitch(logs, Declared())
    assert [found.rows["a", n].superseded_by_run_id for n in (20, 30)] == ["b", "b"]
    assert [found.rows["b", n].superseded_by_run_id for n in (4, 5, 10)] == [None, "c", "c"]


@pytest.mark.parametrize(
    ("pattern", "key"), [("a*", "global_step"), ("b*", "frames"), ("*", "frames"), ("a/x", "global_step")]
)
def test_an_axis_declared_for_most_values_is_the_axis(pattern, key):
    log = run("r", range(0, 50, 10), "frames", ["a/x", "b/x", "b/y"], axes=[Axis(pattern, "frames")])
    for n, row in enumerate(log.rows):
        row.values["global_step"] = n
    assert stitch([log], Declared()).position_keys["grpo"] == key


def test_a_real_zero_is_logged():
    for written, metric in ((0, "loss"), (10, "val/loss"), (0, "val/loss")):
        log = run("a", range(20 if written else 30, 90, 10), axes=[Axis("*", "global_step")])
        log.rows.insert(0, Row(None, FIRST, {metric: 1.0, "global_step": written}))
        source = stitch([log], Declared()).rows["a", 0].position_source
        assert source == ("carried" if (written, metric) == (0, "val/loss") else "logged")
    log = run("a", range(20, 90, 10), axes=[Axis("*", "global_step")])
    log.rows.insert(0, Row(None, FIRST, {"val/loss": 1.0, "global_step": 0}))
    assert stitch([log], Declared()).rows["a", 0].position_source == "logged"  # two gaps: not beyond
    log.rows[0].values["global_step"], log.axes = 500, []
    assert stitch([log], Declared()).rows["a", 0].position_source == "logged"  # nobody declared it


def test_a_key_logged_once_is_no_axis():
    log = run("a", range(8), "iteration")
    log.rows[0].values["global_step"] = 7
    assert stitch([log], Declared()).position_keys["grpo"] == "iteration"


def test_rows_decide_which_source_stands():
    logs = [run("a", range(3), log_id=f"a{n}", at=n) for n in range(2)] + [
        run("a", range(9), kind="export", log_id="e")
    ]
    assert labels(stitch(logs, Declared()), "a0") == ["duplicate_source"] * 3


def variants(*runs):
    """The arms of runs given as (positions, config), an hour apart."""
    logs = [run(f"r{n}", spots, at=n, config=config) for n, (spots, config) in enumerate(runs)]
    return [arm.removeprefix("grpo ") for arm in arms(stitch(logs, Declared())).values()]


def test_what_is_no_resume_of_another_variant():
    one, two = {"lr": "1"}, {"lr": "2"}
    first = (range(0, 200, 10), one)
    assert variants(first, (range(150, 250, 10), two)) == ["[lr=1]", "[lr=1]"]
    assert variants(first, (range(20, 250, 10), two)) == ["[lr=1]", "[lr=2]"]  # where the first began
    assert variants(first, (range(30, 250, 10), two)) == ["[lr=1]", "[lr=1]"]
    assert variants(first, (range(50, 950, 100), two)) == ["[lr=1]", "[lr=2]"]  # its own first step
    assert variants(first, (range(210, 300, 10), two)) == ["[lr=1]", "[lr=1]"]
    assert variants(first, (range(220, 300, 10), two)) == ["[lr=1]", "[lr=2]"]  # nobody reached it


def test_a_resume_joins_the_latest_it_can_continue():
    runs = [(range(0, 200, 10), {"lr": "1"}), (range(0, 200, 10), {"lr": "2"}), (range(150, 250, 10), {"lr": "3"})]
    assert variants(*runs, (range(240, 300, 10), {"lr": "4"})) == ["[lr=1]", "[lr=2]", "[lr=2]", "[lr=2]"]


def test_a_seed_in_the_name_counts_where_the_config_states_none():
    logs = [run(f"r{n}", range(5), at=n, run_name=f"ppo__{n}__170000000{n}") for n in range(2)]
    assert arms(stitch(logs, Declared())) == {"r0": "ppo [seed=0]", "r1": "ppo [seed=1]"}
    for log in logs:
        log.config = {"args.seed": "8"}
    assert arms(stitch(logs, Declared())) == {"r0": "ppo", "r1": "ppo"}
