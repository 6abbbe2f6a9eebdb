"""Histories as public logs have them, which the first stitch took for something else. Inputs of our own making."""

from tests.python.support.campaign import Campaign, steps


def kept(models) -> list[tuple]:
    return models.rows(
        "select arm, count(*) filter (where drop_reason is null), count(*) from run_rows group by arm order by arm"
    )


def points(models) -> dict[str, int]:
    found = models.rows("select metric, count(value) from arm_metrics group by metric order by metric")
    return {metric: count for metric, count in found if not metric.endswith("global_step")}


def test_experiments_of_one_group_are_curves_of_their_own(models):
    campaign = Campaign()
    for i, name in enumerate(("baseline", "tied-embeddings", "wider-mlp")):
        rows = [{"_step": s, "val/loss": 3.0 - i} for s in range(12)]
        campaign.log(f"l{i}", f"r{i}", rows, 10 * i, run_name=name, run_group="small", has_exit_record=True)
    models.run(campaign.tables)
    assert kept(models) == [("baseline", 12, 12), ("tied-embeddings", 12, 12), ("wider-mlp", 12, 12)]


def test_two_environments_and_two_seeds_under_one_experiment_name_are_four_curves(models):
    campaign = Campaign()
    runs = [(env, seed) for env in ("CartPole-v1", "Acrobot-v1") for seed in (1, 2)]
    for i, (env, seed) in enumerate(runs):
        config = {"exp_name": '"ppo"', "env_id": f'"{env}"', "seed": f"{seed}"}
        name = f"{env}__ppo__{seed}__17894{53600 + i}"
        campaign.log(f"l{i}", f"r{i}", steps(*range(0, 900, 100)), 10 * i, run_name=name, config=config)
    models.run(campaign.tables)
    assert kept(models) == [(f"{env}__ppo [seed={seed}]", 9, 9) for env, seed in sorted(runs)]


def test_a_run_that_logs_densely_at_first_keeps_its_first_steps(models):
    rows = [{"_step": s, "train/loss": 1.0} for s in (*range(8), *range(150, 1650, 150))]
    for row in rows:
        if row["_step"] % 750 == 0:
            row["val/loss"] = 2.0
    models.run(Campaign().log("a", "a", rows).tables)
    assert points(models) == {"train/loss": 18, "val/loss": 3}


def test_a_relaunch_that_logs_every_ten_steps_is_no_resume_of_a_short_dead_run(models):
    campaign = Campaign().log("a", "a", [{"_step": s, "train/loss": 2.0} for s in (0, 1, 2, 3)], run_name="grpo")
    rows = [{"_step": s, "train/loss": 1.0} for s in range(10, 220, 10)]
    campaign.log("b", "b", rows, 30, run_name="grpo")
    models.run(campaign.tables)
    assert models.rows(
        "select run_id, coalesce(drop_reason, 'kept'), count(*) from run_rows group by 1, 2 order by 1"
    ) == [
        ("a", "other_lineage", 4),
        ("b", "kept", 21),
    ]


def test_a_relaunch_with_larger_batches_is_a_fresh_start(models):
    def rows(batch, count):
        return [{"global_step": float(batch * i), "training_step": float(i), "loss": 1.0} for i in range(1, count + 1)]

    campaign = Campaign().log("a", "a", rows(64, 6), run_name="grpo").log("b", "b", rows(256, 9), 30, run_name="grpo")
    models.run(campaign.tables)
    assert models.rows("select step_count, lineage_count from arms") == [(9, 2)]
    assert models.rows("select kind from curve_findings where kind = 'trainer_step_differs'") == []


def test_a_counter_of_the_trainer_joins_restarts_whose_tracker_begins_anew(models):
    campaign = Campaign()
    for i, (first, last) in enumerate(((49, 999), (849, 1799), (1649, 2799))):
        rows = [
            {"_step": s, "trainer/global_step": float(g), "train/loss": 1.0}
            | ({"val/loss": 2.0} if g % 200 == 199 else {})
            for s, g in enumerate(range(first, last + 1, 50))
        ]
        campaign.log(f"l{i}", f"r{i}", rows, 60 * i, run_name="resnet")
    models.run(campaign.tables)
    assert models.rows("select position_key, step_count from arms") == [("trainer/global_step", 56)]
    assert points(models) == {"train/loss": 56, "val/loss": 14}


def test_a_run_whose_machines_clock_is_behind_is_no_silent_loss(models):
    campaign = Campaign()
    campaign.log("b", "second", steps(*range(700, 1300, 10)), 0, run_name="arm")
    campaign.log("a", "first", steps(*range(0, 900, 10)), 300, run_name="arm")
    campaign.log("c", "other", steps(*range(0, 1000, 10)), 300, run_name="another")
    models.run(campaign.tables)
    found = models.rows("select kind, subject, severity, detail, remedy from curve_findings")
    assert found == [
        (
            "orphan_start",
            "second",
            "warn",
            "it starts at global_step 700.0 of arm arm, and nothing before it led there: a fork, a lost head, or a "
            "clock that is behind; what reached that position: run first of this arm, arm another",
            "declared/arm_assignments.csv: second,,,,arm [second],",
        )
    ]
    campaign.declare("arm_assignments", run_id="second", arm="arm [second]")
    models.run(campaign.tables)
    # Alone it is a curve without its beginning.
    assert models.rows("select kind, subject from curve_findings") == [("late_start", "arm [second]")]


def test_a_trainer_that_goes_back_while_the_tracker_goes_on_redoes_steps(models):
    counter = [*range(49, 1950, 50), *range(1749, 2950, 50)]
    rows = [{"_step": s, "trainer/global_step": float(g), "train/loss": 1.0} for s, g in enumerate(counter)]
    models.run(Campaign().log("a", "a", rows).tables)
    assert models.rows("select step_count from arms") == [(59,)]
    assert models.rows("select count(*) from run_rows where drop_reason = 'rolled_back'") == [(5,)]


def test_a_chart_of_grouped_runs_lies_along_its_own_axis(models):
    mean_steps = [3, 5, 9, 8, 7, 12, 11, 20]
    rows = [
        {"_step": s, "evaluations": 100.0 * i, "fitness": 0.1 * i, "spread": 0.1} for i, s in enumerate(mean_steps, 1)
    ]
    models.run(Campaign().log("a", "a", rows, kind="export", axes={"*": "evaluations"}).tables)
    assert models.rows("select position_key, step_count from arms") == [("evaluations", 8)]


def test_a_chart_over_relative_time_lies_along_it(models):
    campaign = Campaign()
    for group in ("nodes_1", "nodes_2"):
        rows = steps(*(60.5 * i for i in range(7)), key="Relative Time (Process)")
        campaign.log(group, group, rows, kind="export", axes={"*": "Relative Time (Process)"})
    models.run(campaign.tables)
    assert models.rows("select arm, step_count from arms order by 1") == [("nodes_1", 7), ("nodes_2", 7)]


def test_a_by_run_file_of_two_launches_gives_their_curve_again(models):
    campaign = Campaign()
    first = [{"train/global_step": 0.0, "loss": 1.0}, {"train/global_step": 1.0, "loss": 1.0, "eval/reward": 0.9}]
    campaign.log("a.1", "a", first, kind="export", arm_in_path="eagle", launch_name="1")
    campaign.log(
        "a.2", "a", steps(1, 2, key="train/global_step"), 5, kind="export", arm_in_path="eagle", launch_name="2"
    )
    models.run(campaign.tables)
    assert models.rows("select arm, evidence from run_arms") == [("eagle", "path")]
    assert models.rows("select kept_row_count, rolled_back_row_count from runs") == [(3, 1)]
    assert points(models) == {"loss": 3}


def test_a_metric_that_a_dropped_run_filled_is_not_dead_and_a_counter_never_is(models):
    filled = {"clipfrac": 0.02, "empty": 0.0, "train/epoch": 0.0}
    campaign = Campaign().log("a", "a", steps(*range(7), **filled), run_name="ppo")
    zeros = dict.fromkeys(filled, 0.0)
    campaign.log("b", "b", steps(*range(3), **zeros), 30, run_name="ppo")
    models.run(campaign.tables)
    assert models.rows("select metric from metrics where is_dead") == [("empty",)]
    found = models.rows("select min_value, max_value from metrics where metric = 'clipfrac'")
    assert found == [(0, 0)]
