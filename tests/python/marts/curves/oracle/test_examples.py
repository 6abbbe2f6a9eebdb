"""The oracle of the stitch on the example of its description, and on cases of public logs, worked out by hand."""

import itertools
from collections import Counter

import pytest

from tests.python.support.stitch.look import arms, evidence, labels, ordinals, points, positions, run
from tests.python.support.stitch.oracle import Axis, Declared, Row, stitch

FIRST = 1_700_000_000


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
