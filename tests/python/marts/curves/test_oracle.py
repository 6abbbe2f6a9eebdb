"""The oracle against examples worked out by hand, and against what must hold of any campaign."""

import itertools
import os
from collections import Counter

import pytest
from hypothesis import HealthCheck, given, settings

from tests.python.support.stitch.axes import is_connecting
from tests.python.support.stitch.oracle import Axis, Declared, Log, Row, stitch
from tests.python.support.stitch.shapes import campaigns

FIRST = 1_700_000_000


def run(run_id, positions, key="global_step", metrics=("loss",), at=0, step_from=0, **facts):
    """A log with a row a position, a minute apart, that starts `at` hours after the first."""
    rows = [
        Row(step_from + n, FIRST + 3600 * at + 60 * n, {key: p} | dict.fromkeys(metrics, 10.0 + n))
        for n, p in enumerate(positions)
    ]
    facts = {"run_name": "grpo", "started_at": FIRST + 3600 * at} | facts
    return Log(facts.pop("log_id", run_id), run_id, rows, **facts)


def labels(found, log_id):
    return [found.rows[log_id, i].drop_reason or "kept" for i in range(len(found.rows)) if (log_id, i) in found.rows]


def points(found, metric, arm="grpo"):
    return {step: value for (a, step, m), value in sorted(found.values.items()) if (a, m) == (arm, metric)}


def positions(found, arm="grpo"):
    return [found.steps[key].position for key in sorted(found.steps) if key[0] == arm]


def ordinals(found, log_id):
    return [r.training_step for (log, _), r in sorted(found.rows.items()) if log == log_id]


def arms(found):
    return {run_id: arm.arm for run_id, arm in found.run_arms.items()}


def evidence(found):
    return {run_id: arm.evidence for run_id, arm in found.run_arms.items()}


# --- the example of section 5 ---


def test_a_dead_relaunch_swallows_nothing():
    a = run("a", range(0, 301, 10))
    b = run("b", range(0, 31, 10), at=1)
    c = run("c", range(280, 501, 10), at=2)
    found = stitch([a, b, c], Declared())
    assert labels(found, "a") == ["kept"] * 28 + ["rolled_back"] * 3
    assert labels(found, "b") == ["other_lineage"] * 4
    assert labels(found, "c") == ["kept"] * 23
    assert positions(found) == list(range(0, 501, 10))
    assert {found.rows["a", i].superseded_by_run_id for i in (28, 29, 30)} == {"c"}
    assert found.rows["b", 0].superseded_by_run_id is None
    assert [s.parent and s.parent.number for s in found.segments] == [None, None, 1]


def test_a_seam_of_two_segments_collapses_and_a_wider_gap_stays():
    a = run("a", [1024, 2048, 3072, 4096])
    b = run("b", [4156, 5180, 6204, 7228], at=1)  # 60 / 1024 after a's last
    c = run("c", [7420, 8444], at=2)  # 192 / 1024 after b's last: another step
    found = stitch([a, b, c], Declared())
    assert labels(found, "a") == ["kept", "kept", "kept", "seam_collapsed"]
    assert positions(found) == [1024, 2048, 3072, 4156, 5180, 6204, 7228, 7420, 8444]
    assert found.rows["a", 3].superseded_by_run_id == "b"
    assert found.rows["b", 0].gap_ratio == 60 / 1024
    assert found.rows["c", 0].gap_ratio == 192 / 1024
    assert ordinals(found, "b") == [4, 5, 6, 7]


def test_nothing_collapses_inside_one_segment():
    found = stitch([run("a", [0, 1, 2, 100, 200, 300, 400, 405])], Declared())
    assert labels(found, "a") == ["kept"] * 8


def test_the_furthest_lineage_and_a_declared_end():
    a, b = run("a", range(50)), run("b", range(4), at=1)
    assert labels(stitch([a, b], Declared()), "a") == ["other_lineage"] * 50
    assert labels(stitch([a, b], Declared(), "furthest"), "b") == ["other_lineage"] * 4
    assert labels(stitch([a, b], Declared(leaf_run_ids={"grpo": "a"})), "b") == ["other_lineage"] * 4


# --- the cases ---


def test_a_group_is_no_arm():
    names = ["wide", "deep", "tied"]
    logs = [run(f"r{n}", range(12), "_step", at=n, run_name=name, group="study") for n, name in enumerate(names)]
    for log in logs:
        for row in log.rows:
            del row.values["_step"]
    found = stitch(logs, Declared())
    assert arms(found) == {"r0": "wide", "r1": "deep", "r2": "tied"}
    assert set(evidence(found).values()) == {"run_name"}
    assert all(labels(found, f"r{n}") == ["kept"] * 12 for n in range(3))


def test_environments_and_seeds_of_one_script_are_arms_of_their_own():
    logs = [
        run(f"r{n}", range(256, 2049, 256), at=n, run_name=f"{env}__ppo__{seed}__169000000{n}", config=config)
        for n, (env, seed) in enumerate(itertools.product(["Ant", "Swim"], ["3", "4"]))
        for config in [{"exp_name": "ppo", "env_id": env, "seed": seed}]
    ]
    found = stitch(logs, Declared())
    assert arms(found) == {
        "r0": "Ant__ppo [seed=3]",
        "r1": "Ant__ppo [seed=4]",
        "r2": "Swim__ppo [seed=3]",
        "r3": "Swim__ppo [seed=4]",
    }
    assert found.run_arms["r2"].variant_of == "Swim__ppo"
    assert found.run_arms["r3"].seed == "4"
    assert all(labels(found, f"r{n}") == ["kept"] * 8 for n in range(4))


def test_dense_first_steps_stay():
    log = run("a", [*range(6), 100, 200, 300, 400, 500, 600, 700, 800], "_step")
    for n, row in enumerate(log.rows):
        row.step = row.values.pop("_step")
        if n in (0, 9, 13):
            row.values["val/loss"] = 1.0
    found = stitch([log], Declared())
    assert labels(found, "a") == ["kept"] * 14
    assert list(points(found, "val/loss")) == [1, 10, 14]


@pytest.mark.parametrize("axes", [[], [Axis("eval/*", "eval/global_step")]])
def test_evaluation_rows_lie_on_their_own_key(axes):
    log = run("a", range(1, 21), "train/global_step", ["train/reward"], axes=axes)
    for place, step in ((5, 5), (11, 10), (17, 15), (23, 20)):
        log.rows.insert(place, Row(None, None, {"eval/pass1": step / 4, "eval/global_step": step}))
    found = stitch([log], Declared())
    assert found.position_keys["grpo"] == "train/global_step"
    assert points(found, "eval/pass1") == {5: 1.25, 10: 2.5, 15: 3.75, 20: 5.0}
    assert len(positions(found)) == 20
    assert found.rows["a", 5].position_source == "step_metric"


def test_a_key_that_counts_another_thing_is_no_position():
    log = run("a", range(1, 21), "train/step", ["train/reward"])
    for place, step in ((5, 4000), (11, 8000)):
        log.rows.insert(place, Row(None, None, {"rollout/length": 7.0, "rollout/step": step}))
    found = stitch([log], Declared())
    assert [found.rows["a", n].position_source for n in (5, 11)] == ["carried", "carried"]
    assert points(found, "rollout/length") == {5: 7.0, 10: 7.0}
    assert len(positions(found)) == 20


def test_a_relaunch_that_logs_every_ten_steps_is_no_resume():
    a, b = run("a", [0, 1, 2]), run("b", range(10, 311, 10), at=25)
    found = stitch([a, b], Declared())
    assert labels(found, "a") == ["other_lineage"] * 3
    assert positions(found) == list(range(10, 311, 10))


def test_a_relaunch_with_another_batch_size_is_no_resume():
    c = run("c", [64, 128, 192, 256], metrics=["loss", "training_step"])
    d = run("d", range(512, 512 * 21, 512), at=2, metrics=["loss", "training_step"])
    for log in (c, d):
        for n, row in enumerate(log.rows, 1):
            row.values["training_step"] = n
    found = stitch([c, d], Declared())
    assert labels(found, "c") == ["other_lineage"] * 4
    assert points(found, "training_step") == {n: n for n in range(1, 21)}


def test_the_trainers_step_that_starts_over_is_a_fresh_start():
    a = run("a", range(1000, 9000, 1000), metrics=["loss"])
    b = run("b", range(2500, 9500, 1000), at=1)
    for log in (a, b):
        for n, row in enumerate(log.rows, 1):
            row.values["training_step"] = n
    assert labels(stitch([a, b], Declared()), "a") == ["other_lineage"] * 8
    for row in b.rows:
        row.values["training_step"] += 2
    assert labels(stitch([a, b], Declared()), "a") == ["kept", "kept"] + ["rolled_back"] * 6


def test_a_second_pass_redoes_nothing():
    log = run("a", range(30), metrics=["loss1"])
    log.rows += run("a", range(30), metrics=["loss2"], at=1).rows
    found = stitch([log], Declared())
    assert labels(found, "a") == ["kept"] * 60
    assert list(points(found, "loss1")) == list(points(found, "loss2")) == list(range(1, 31))
    assert {r.track_number for r in found.rows.values()} == {1, 2}
    assert stitch([log], Declared(headline_metrics={"grpo": "loss2"})).main_tracks == {"grpo": 2}


def test_three_restarts_under_the_trainers_global_step():
    spans = [(49, 1000), (849, 1800), (1649, 2800)]
    logs = []
    for n, (start, end) in enumerate(spans):
        log = run(f"r{n}", range(start, end, 50), "trainer/global_step", ["train/loss"], at=3 * n)
        evaluated = [(i, r) for i, r in enumerate(log.rows) if r.values["trainer/global_step"] % 200 == 199]
        for i, row in reversed(evaluated):
            values = {"val/loss": 2.0, "trainer/global_step": row.values["trainer/global_step"]}
            log.rows.insert(i + 1, Row(None, row.logged_at, values))
        for i, row in enumerate(log.rows):
            row.step = i
        logs.append(log)
    found = stitch(logs, Declared())
    assert found.position_keys["grpo"] == "trainer/global_step"
    assert len(points(found, "train/loss")) == 56
    assert len(points(found, "val/loss")) == 14
    assert positions(found) == list(range(49, 2800, 50))


def test_validation_before_training_is_at_zero():
    log = run("a", range(1, 13), "training/global_step", ["actor/loss"], step_from=1)
    log.rows.insert(0, Row(0, FIRST - 60, {"val/reward": 0.3}))
    log.rows[6].values["val/reward"] = 0.4
    found = stitch([log], Declared())
    assert points(found, "val/reward") == {1: 0.3, 7: 0.4}
    assert list(points(found, "actor/loss")) == list(range(2, 14))
    assert (found.rows["a", 0].position, found.rows["a", 0].position_source) == (0, "tracker_step")


def test_validation_at_a_resume_does_not_roll_back_the_step_it_validates():
    a = run("a", range(1, 11), "training/global_step", step_from=1)
    b = run("b", range(11, 16), "training/global_step", step_from=11, at=1)
    b.rows.insert(0, Row(10, FIRST + 3500, {"val/reward": 0.5}))
    found = stitch([a, b], Declared())
    assert labels(found, "a") == ["kept"] * 10
    assert points(found, "val/reward") == {10: 0.5}
    assert len(positions(found)) == 15


def test_a_clock_that_is_behind_leaves_an_orphan():
    found = stitch([run("one", range(0, 500, 10)), run("two", range(400, 700, 10), at=-5)], Declared())
    assert [(s.log.run_id, s.parent, s.is_chosen) for s in found.segments] == [
        ("two", None, False),
        ("one", None, True),
    ]
    assert set(labels(found, "two")) == {"other_lineage"}


def test_a_counter_that_goes_back_in_one_log_is_a_restart():
    log = run("a", [*range(49, 950, 50), *range(749, 1500, 50)], "trainer/global_step")
    found = stitch([log], Declared())
    assert Counter(labels(found, "a")) == {"kept": 14 + 16, "rolled_back": 5}
    assert positions(found) == list(range(49, 1500, 50))


@pytest.mark.parametrize("axis", ["evaluations", "Relative Time (Process)"])
def test_a_charts_own_axis_is_its_position(axis):
    log = run("a", [3.5, 7.0, 10.5, 14.0], axis, ["fitness"], axes=[Axis("*", axis)], kind="export")
    for row, step in zip(log.rows, [0, 2, 1.5, 3], strict=True):
        row.step = step
    found = stitch([log], Declared())
    assert labels(found, "a") == ["kept"] * 4
    assert positions(found) == [3.5, 7.0, 10.5, 14.0]


def test_our_own_by_run_file_gives_the_same_curve():
    one = run("a", [0, 1], "train/global_step", ["train/loss"], log_id="a-1", arm_in_path="eagle", kind="export")
    one.rows[1].values["eval/reward"] = 0.7
    two = run("a", [1, 2], "train/global_step", ["train/loss"], log_id="a-2", at=25, arm_in_path="eagle", kind="export")
    found = stitch([one, two], Declared())
    assert labels(found, "a-1") == ["kept", "rolled_back"]
    assert labels(found, "a-2") == ["kept", "kept"]
    assert points(found, "eval/reward", "eagle") == {}
    assert evidence(found) == {"a": "path"}


def test_a_repeat_of_one_name_is_another_lineage():
    one = run("a", range(1, 8), metrics=["clipfrac"])
    found = stitch([one, run("b", range(1, 4), metrics=["clipfrac"], at=2)], Declared())
    assert labels(found, "a") == ["other_lineage"] * 7
    assert labels(found, "b") == ["kept"] * 3


# --- what the cases do not show ---


def test_a_resume_stays_with_the_run_it_continues_though_its_config_changed():
    a = run("a", range(0, 200, 10), config={"lr": "1e-6"})
    b = run("b", range(150, 300, 10), at=1, config={"lr": "5e-7"})
    c = run("c", range(0, 100, 10), at=2, config={"lr": "5e-7"})
    found = stitch([a, b, c], Declared())
    assert arms(found) == {"a": "grpo [lr=1e-6]", "b": "grpo [lr=1e-6]", "c": "grpo [lr=5e-7]"}
    assert evidence(found) == {"a": "identity", "b": "resumed", "c": "identity"}


def test_a_resume_prefers_a_run_of_its_own_seed():
    logs = [run("a", range(0, 200, 10), config={"seed": "1"}), run("b", range(0, 200, 10), at=1, config={"seed": "2"})]
    logs.append(run("c", range(150, 250, 10), at=2, config={"seed": "1.0"}))
    assert arms(stitch(logs, Declared()))["c"] == "grpo [seed=1]"


def test_a_run_that_states_less_is_an_arm_of_its_own():
    logs = [
        run(r, range(9), at=n, config=c) for n, (r, c) in enumerate([("a", {"lr": "1"}), ("b", {"lr": "2"}), ("c", {})])
    ]
    assert arms(stitch(logs, Declared())) == {"a": "grpo [lr=1]", "b": "grpo [lr=2]", "c": "grpo"}


@pytest.mark.parametrize(
    "key", ["output_dir", "run_name", "resume_from_checkpoint", "num_gpus", "pool_size", "hostname"]
)
def test_where_a_run_ran_is_not_what_it_is(key):
    logs = [run("a", range(9), config={key: "1"}), run("b", range(9), at=1, config={key: "2"})]
    assert set(arms(stitch(logs, Declared())).values()) == {"grpo"}


def test_what_does_not_affect_learning_is_not_what_a_run_is():
    logs = [run("a", range(9), config={"lr": "1"}), run("b", range(9), at=1, config={"lr": "2"})]
    assert set(arms(stitch(logs, Declared(unlearned=[("gr*", "lr")]))).values()) == {"grpo"}
    assert len(set(arms(stitch(logs, Declared(unlearned=[("ppo*", "lr")]))).values())) == 2


def test_long_and_odd_values_are_shown_short():
    text = '["allenai/rlvr", "1.0"]'
    logs = [
        run("a", range(9), config={"data.train_files": text}),
        run("b", range(9), at=1, config={"data.train_files": "x"}),
    ]
    name = arms(stitch(logs, Declared()))["a"]
    assert name.startswith("grpo [train_files=__allenai/rlvr_") and len(name) < 60 and name.count("~") == 1


@pytest.mark.parametrize(
    ("name", "arm"),
    [
        ("prefilter-4b__42__1789200000", "prefilter-4b"),
        ("ppo_2026-09-12_08-00-00", "ppo"),
        ("ppo-20260912-080000", "ppo"),
        ("ppo 2026-09-12T08:00:00Z", "ppo"),
        ("ppo_1789200000", "ppo"),
        ("ppo-1789200000123", "ppo"),
        ("ppo_Sep12_08-00-00_node-7", "ppo"),
        ("qwen3-30b", "qwen3-30b"),
        ("data-20260912", "data-20260912"),
        ("__42__1789200000", "__42__1789200000"),
    ],
)
def test_the_launch_tail_is_no_part_of_the_name(name, arm):
    assert arms(stitch([run("a", [1], run_name=name)], Declared())) == {"a": arm}


def test_the_name_comes_before_exp_name_only_where_a_tail_was_cut():
    config = {"args.exp_name": "script"}
    logs = [run("a", [1], run_name="x__1__1700000000", config=config), run("b", [1], run_name="y", config=config)]
    logs += [run("c", [1], run_name=" "), run("d", [1], run_name="y")]
    found = stitch(logs, Declared())
    assert arms(found) == {"a": "x", "b": "script", "c": "c", "d": "y"}
    assert evidence(found) == {"a": "launch_name", "b": "exp_name", "c": "run_id", "d": "run_name"}


def test_the_most_specific_assignment_wins():
    lines = [
        ("group_pattern", "study", "by group"),
        ("name_pattern", "abl-*", "{run_name}"),
        ("name_pattern", "abl-b*", "b runs"),
        ("run_id", "r3", "mine"),
    ]
    names = ["other", "abl-a", "abl-b1", "abl-b2"]
    logs = [run(f"r{n}", [1], run_name=name, group="study") for n, name in enumerate(names)]
    found = stitch(logs, Declared(assignments=lines))
    assert arms(found) == {"r0": "by group", "r1": "abl-a", "r2": "b runs", "r3": "mine"}


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


# --- of any campaign ---


@settings(
    max_examples=int(os.environ.get("SEAMLINE_EXAMPLES", "300")),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(campaign=campaigns())
def test_any_campaign(campaign):
    logs, declared = campaign
    for choice in ("latest", "furthest"):
        found = stitch(logs, declared, choice)
        check(logs, found)
        again = stitch(logs[::-1], declared, choice)
        assert told(found) == told(again), "the order in which logs are given decides something"


def told(found):
    """All that the SQL is compared with, in one comparable piece of text."""
    rows = {
        spot: (
            (r.arm, r.drop_reason, r.position, r.position_source, r.segment_number, r.track_number),
            (r.superseded_by_run_id, r.gap_ratio, r.training_step),
        )
        for spot, r in found.rows.items()
    }
    steps = {spot: (step.position, step.segment.number, step.gap_ratio) for spot, step in found.steps.items()}
    return repr([sorted(d.items()) for d in (rows, steps, found.values, arms(found), evidence(found))])


def check(logs, found):
    """What holds of every campaign."""
    rows = found.rows.values()
    assert len(found.rows) == sum(len(log.rows) for log in logs)
    known = {None, "duplicate_source", "excluded", "unpositioned", "other_lineage", "rolled_back", "seam_collapsed"}
    assert {r.drop_reason for r in rows} <= known
    for row in rows:
        assert (row.training_step is not None) == (row.drop_reason is None)
        assert (row.superseded_by_run_id is not None) == (row.drop_reason in ("rolled_back", "seam_collapsed"))
        is_placed = row.drop_reason not in ("duplicate_source", "excluded", "unpositioned")
        assert is_placed == (row.position is not None) == (row.segment is not None) == (row.position_source is not None)
    for arm in {r.arm for r in rows if r.segment}:
        of_arm = [r for r in rows if r.arm == arm and r.segment]
        _check_curve(arm, of_arm, found)
        _check_rolled_back(of_arm)
        _check_tracks(of_arm, found, arm)
        _check_metrics(arm, of_arm, found)


def _check_curve(arm, rows, found):
    ordinals_ = sorted(n for a, n in found.steps if a == arm)
    assert ordinals_ == list(range(1, len(ordinals_) + 1)) and ordinals_
    curve = positions(found, arm)
    assert curve == sorted(set(curve))
    assert {r.training_step for r in rows if r.training_step} == set(ordinals_)
    for ratio_arm, ratio, of_two, collapsed in found.ratios:
        assert ratio_arm != arm or not collapsed or (of_two and ratio < 0.10)


def _check_rolled_back(rows):
    """A row is rolled back by a later segment that starts at or below it; what stands has no such segment."""
    for row in rows:
        later = [s for s in row.segment.track.chosen() if s.number > row.segment_number and s.first <= row.position]
        if row.drop_reason is None or row.drop_reason == "seam_collapsed":
            assert row.segment.is_chosen and not later
        if row.drop_reason == "rolled_back":
            by = [
                s
                for s in {r.segment for r in rows if r.segment.is_chosen}
                if s.log.run_id == row.superseded_by_run_id and s.first <= row.position
            ]
            assert any(s.number > row.segment_number or s.track is not row.segment.track for s in by)
        if row.drop_reason == "other_lineage":
            assert not row.segment.is_chosen
        if row.drop_reason == "seam_collapsed":
            assert row.kind == "core"


def _check_tracks(rows, found, arm):
    """Segments of different tracks share no metric; one segment of each track is chosen at least."""
    axes = {found.position_keys[arm]} | {axis.step_metric for r in rows for axis in r.log.axes}
    owners = {}
    for row in rows:
        for metric in row.row.values:
            if is_connecting(metric, axes):
                assert owners.setdefault(metric, row.track_number) == row.track_number
    for segment in {r.segment for r in rows}:
        assert segment.track.chosen()
        core = [r.position for r in sorted(segment.core(), key=lambda r: r.row_idx)]
        assert core == sorted(core) and core
        assert segment.parent is None or segment.parent.number < segment.number
        if segment.track.number == found.main_tracks[arm]:
            stands = [r for r in segment.core() if r.drop_reason is None]
            assert len({r.training_step for r in stands}) == len({r.position for r in stands})


def _check_metrics(arm, rows, found):
    """Every metric on a kept row is on the curve; a metric is lost only with all its rows."""
    wanted = {
        (arm, r.training_step, metric)
        for r in rows
        if r.training_step
        for metric in r.row.values
        if not metric.startswith("_")
    }
    assert wanted == {key for key in found.values if key[0] == arm}
    # A log of one launch that nothing resumed loses nothing but what another lineage replaced.
    if len({r.segment for r in rows}) == 1:
        assert all(r.drop_reason is None for r in rows)
