"""The oracle of the stitch, rule by rule: which arm a run belongs to."""

import pytest

from tests.python.support.stitch.look import arms, evidence, run
from tests.python.support.stitch.oracle import Declared, stitch

FIRST = 1_700_000_000


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
