"""Which arm a run belongs to, and why."""

from datetime import timedelta

import pytest

from tests.python.support.campaign import EPOCH, Campaign, steps


def arms_of(models, campaign) -> dict[str, tuple]:
    models.run(campaign.tables)
    return {run: rest for run, *rest in models.rows("select run_id, arm, evidence from run_arms order by run_id")}


def test_the_arm_is_what_the_run_states_best(models):
    campaign = Campaign()
    every = {"run_name": "name__42__1789453662", "run_group": "group", "arm_in_path": "path"}
    campaign.log("a1", "assigned", steps(1), **every, config={"exp_name": '"exp"'})
    campaign.declare("arm_assignments", run_id="assigned", arm="declared arm", reason="by hand")
    campaign.log("b1", "path", steps(1), **every, config={"exp_name": '"exp"'})
    campaign.log("c1", "launch", steps(1), run_name="na__me__1__1789453662", config={"exp_name": '"exp"'})
    campaign.log("d1", "experiment", steps(1), run_name="job", config={"exp_name": '"exp"', "other": "1"})
    campaign.log("e1", "nested", steps(1), run_name="job", config={"z.exp_name": '"last"', "a.exp_name": '"first"'})
    campaign.log("f1", "name", steps(1), run_name="name__1__now", run_group="group", config={"exp_name": '" "'})
    campaign.log("g1", "id", steps(1), run_name=" ", run_group="group")
    models.run(campaign.tables)
    assert models.rows("select run_id, arm, evidence from run_arms order by run_id") == [
        ("assigned", "declared arm", "declared"),
        ("experiment", "exp", "exp_name"),
        ("id", "id", "run_id"),
        ("launch", "na__me", "launch_name"),
        ("name", "name__1__now", "run_name"),
        ("nested", "first", "exp_name"),
        ("path", "path", "path"),
    ]


def test_of_a_runs_logs_the_latest_that_states_a_thing_is_believed(models):
    campaign = Campaign()
    campaign.log("h1", "twice", steps(1), minute=1, config={"exp_name": '"older"'}, run_name="first", project="p1")
    campaign.log("h2", "twice", steps(2), minute=2, config={"exp_name": '"newer"'}, project="p2", state="crashed")
    campaign.log("h3", "twice", [], minute=3, run_name="last")
    campaign.log("i1", None, [], run_name="a log without a run record")
    models.run(campaign.tables)
    found = models.rows("select run_id, arm, run_name, project, state, started_at from runs")
    assert found == [("twice", "newer", "last", "p2", "crashed", EPOCH + timedelta(minutes=1))]
    assert models.rows("select run_id, row_count from logs where log_id = 'i1'") == [(None, 0)]


@pytest.mark.parametrize(
    ("name", "arm"),
    [
        ("ppo__1__178945366", "ppo"),
        ("ppo__1__17894536", "ppo__1__17894536"),
        ("ppo__-1__1789453662", "ppo__-1"),
        ("sft-20260922_201400", "sft"),
        ("sft-20260922-2014", "sft"),
        ("dqn_2026-09-22T20.14.00", "dqn"),
        ("dqn_2026-09-22T20:14:00.123Z", "dqn"),
        ("dqn 2026-09-22 20h14m05s", "dqn"),
        ("reinforce_Sep22_20-14-00_host-1.lan", "reinforce"),
        ("grpo-1789453662.5", "grpo"),
        ("grpo@1789453662123", "grpo"),
        ("grpo-2789453662", "grpo-2789453662"),
        ("twice__1__1789453662-20260922_201400", "twice__1__1789453662"),
        ("__1__1789453662", "__1__1789453662"),
    ],
)
def test_a_launch_tail_is_taken_off_once(models, name, arm):
    evidence = "run_name" if arm == name else "launch_name"
    assert arms_of(models, Campaign().log("a1", "a", steps(1), run_name=name)) == {"a": [arm, evidence]}


def test_a_group_names_no_arm(models):
    campaign = Campaign()
    for i, name in enumerate(("one", "two", "three")):
        campaign.log(f"l{i}", f"r{i}", steps(*range(20)), 5 * i, run_name=name, run_group="ablations")
    models.run(campaign.tables)
    assert models.rows("select arm, step_count from arms order by arm") == [("one", 20), ("three", 20), ("two", 20)]


def test_the_most_specific_declared_line_speaks(models):
    campaign = Campaign()
    for run in ("r1", "r2", "r3", "s1", "t1"):
        campaign.log(run, run, steps(1), run_name=f"abl-{run}", run_group="night")
    campaign.declare("arm_assignments", run_id="r1", arm="by id")
    campaign.declare("arm_assignments", run_pattern="r*", arm="by short pattern")
    campaign.declare("arm_assignments", run_pattern="r2*", arm="by long pattern")
    campaign.declare("arm_assignments", run_pattern="?2*", arm="of one length")
    campaign.declare("arm_assignments", name_pattern="abl-s*", arm="by name {run_name} of {group}: {run_id}")
    campaign.declare("arm_assignments", group_pattern="n?ght", arm="by group")
    assert arms_of(models, campaign) == {
        "r1": ["by id", "declared"],
        "r2": ["by long pattern", "declared"],
        "r3": ["by short pattern", "declared"],
        "s1": ["by name abl-s1 of night: s1", "declared"],
        "t1": ["by group", "declared"],
    }


def test_a_name_in_an_arms_cell_that_a_run_lacks_is_its_id(models):
    campaign = Campaign().log("a1", "a", steps(1)).declare("arm_assignments", run_pattern="*", arm="{run_name}/{group}")
    assert arms_of(models, campaign) == {"a": ["a/a", "declared"]}


def test_runs_of_one_name_that_differ_in_an_identity_key_are_arms(models):
    campaign = Campaign()
    for i, (run, config) in enumerate(
        {
            "a": {"seed": "1", "lr": "1e-3", "output_dir": '"x"', "num_gpus": "1"},
            "b": {"seed": "2", "lr": "0.001", "output_dir": '"y"', "num_gpus": "8"},
            "c": {"seed": "1.0", "lr": '"1e-3 "', "num_gpus": "2"},
            "d": {"seed": '"None"', "lr": "0.0010"},
        }.items()
    ):
        campaign.log(run, run, steps(*range(5)), 5 * i, run_name="ppo", config=config)
    models.run(campaign.tables)
    found = models.rows("select run_id, arm, evidence, seed, variant_of from run_arms order by run_id")
    assert found == [
        ("a", "ppo [seed=1]", "identity", "1", "ppo"),
        ("b", "ppo [seed=2]", "identity", "2", "ppo"),
        ("c", "ppo [seed=1]", "identity", "1.0", "ppo"),
        ("d", "ppo", "identity", None, "ppo"),
    ]
    found = models.rows("select arm, seed, variant_of from arms order by arm")
    assert found == [("ppo", None, "ppo"), ("ppo [seed=1]", None, "ppo"), ("ppo [seed=2]", "2", "ppo")]
    found = models.rows("select kind, subject, detail, remedy from curve_findings where domain = 'curves' order by 1")
    assert found[0] == (
        "arms_differ_in_config_alone",
        "ppo",
        "4 runs of this name are 3 arms, which differ in seed: ppo, ppo [seed=1], ppo [seed=2]",
        "declared/arm_assignments.csv: ,,ppo*,,ppo,",
    )


def test_what_a_person_declared_not_to_affect_learning_tells_no_arms_apart(models):
    campaign = Campaign()
    campaign.log("a", "a", steps(1), run_name="ppo", config={"train.batch_size": "64", "eval_batch_size": "1"})
    campaign.log("b", "b", steps(1), 5, run_name="ppo", config={"train.batch_size": "32", "eval_batch_size": "2"})
    assert {arm for arm, _ in arms_of(models, campaign).values()} == {"ppo [batch_size=32]", "ppo [batch_size=64]"}
    campaign.declare(
        "frozen_recipe", arm_pattern="p*", config_key="train.batch_size", value="64", affects_learning=True
    )
    assert {arm for arm, _ in arms_of(models, campaign).values()} == {"ppo [batch_size=32]", "ppo [batch_size=64]"}
    campaign.tables["frozen_recipe"][0]["affects_learning"] = False
    assert arms_of(models, campaign) == {"a": ["ppo", "run_name"], "b": ["ppo", "run_name"]}


def test_the_seed_in_a_name_counts_where_the_config_has_none(models):
    campaign = Campaign()
    campaign.log("a", "a", steps(1), run_name="ppo__1__1789453662")
    campaign.log("b", "b", steps(1), 5, run_name="ppo__2__1789453663", config={"seed": "1"})
    assert {arm for arm, _ in arms_of(models, campaign).values()} == {"ppo"}
    campaign.log("c", "c", steps(1), 9, run_name="ppo__3__1789453664")
    assert arms_of(models, campaign)["c"] == ["ppo [seed=3]", "identity"]


def test_keys_that_share_a_last_name_are_shown_in_full_and_odd_values_are_cut(models):
    campaign = Campaign()
    config = {"actor.lr": "1", "critic.lr": "2", "env": '"a,b"', "data.train_files": '["x.parquet", "y"]'}
    campaign.log("a", "a", steps(1), run_name="n", config=config)
    campaign.log("b", "b", steps(1), 5, run_name="n", config={"actor.lr": "3", "critic.lr": "4"})
    models.run(campaign.tables)
    # env and train_files are stated by one run alone: no difference
    assert [arm for (arm,) in models.rows("select arm from arms order by arm")] == [
        "n [actor.lr=1, critic.lr=2]",
        "n [actor.lr=3, critic.lr=4]",
    ]
    campaign.log("c", "c", steps(1), 9, run_name="n", config={"env": '"b"'})
    models.run(campaign.tables)
    names = [arm for (arm,) in models.rows("select arm from arms order by arm")]
    assert names[0] == "n [actor.lr=1, critic.lr=2, env=a_b~b345e1dc]"
    assert names[2] == "n [env=b]"


def test_a_long_bracket_is_cut_and_keeps_a_digest(models):
    long = {f"{c}{c}.model": f'"{c * 30}{{0}}"' for c in "abcd"}
    campaign = Campaign()
    for i in (1, 2):
        campaign.log(f"l{i}", f"r{i}", steps(1), i, run_name="n", config={k: v.format(i) for k, v in long.items()})
    models.run(campaign.tables)
    names = [arm for (arm,) in models.rows("select arm from arms order by arm")]
    assert all(name.startswith(f"n [aa.model={'a' * 30}") and len(name) == len("n []") + 60 + 9 for name in names)
    assert len(set(names)) == 2


@pytest.mark.parametrize(
    ("first", "last", "arm", "evidence"),
    [
        (90, 140, "ppo [lr=1]", "resumed"),  # within reach of 100
        (120, 140, "ppo [lr=1]", "resumed"),  # two gaps beyond it
        (130, 150, "ppo [lr=2]", "identity"),  # out of reach
        (10, 140, "ppo [lr=2]", "identity"),  # at its own gap above zero
        (30, 140, "ppo [lr=1]", "resumed"),
        (20, 140, "ppo [lr=2]", "identity"),  # where the other started, but for two gaps
    ],
)
def test_a_run_that_goes_on_where_another_was_stays_with_it(models, first, last, arm, evidence):
    campaign = Campaign()
    campaign.log("a", "a", steps(*range(0, 101, 10)), run_name="ppo", config={"lr": "1"})
    campaign.log("b", "b", steps(*range(first, last + 1, 10)), 60, run_name="ppo", config={"lr": "2"})
    assert arms_of(models, campaign) == {"a": ["ppo [lr=1]", "identity"], "b": [arm, evidence]}


def test_a_run_that_can_go_on_from_its_equal_does_and_a_chain_stays_together(models):
    campaign = Campaign()
    campaign.log("a", "a", steps(*range(0, 101, 10)), 0, run_name="ppo", config={"lr": "1"})
    campaign.log("b", "b", steps(*range(0, 101, 10)), 10, run_name="ppo", config={"lr": "2"})
    campaign.log("c", "c", steps(*range(90, 201, 10)), 20, run_name="ppo", config={"lr": "1"})
    campaign.log("d", "d", steps(*range(190, 301, 10)), 30, run_name="ppo", config={"lr": "3"})
    campaign.log("e", "e", steps(*range(290, 401, 10)), 40, run_name="ppo", config={"lr": "4"})
    assert arms_of(models, campaign) == {
        "a": ["ppo [lr=1]", "identity"],
        "b": ["ppo [lr=2]", "identity"],
        "c": ["ppo [lr=1]", "identity"],
        "d": ["ppo [lr=1]", "resumed"],
        "e": ["ppo [lr=1]", "resumed"],
    }


def test_an_exclusion_of_a_name_excludes_its_variants(models):
    campaign = Campaign()
    for seed in (1, 2):
        campaign.log(f"l{seed}", f"r{seed}", steps(1, 2), seed, run_name="ppo", config={"seed": f"{seed}"})
    campaign.declare("run_exclusions", arm="ppo", reason="wrong reward")
    models.run(campaign.tables)
    assert models.rows("select run_id, excluded_row_count from runs order by 1") == [("r1", 2), ("r2", 2)]
    campaign.tables["run_exclusions"][0]["arm"] = "ppo [seed=2]"
    models.run(campaign.tables)
    assert models.rows("select run_id, excluded_row_count from runs order by 1") == [("r1", 0), ("r2", 2)]
