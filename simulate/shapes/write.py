"""Writes the W&B logs of every shape, and the truth that was planted with them."""

import random
from pathlib import Path

from simulate.curves.logs import ENTITY
from simulate.curves.wandb_writer import LogWriter
from simulate.shapes import axes, evaluations, names, restarts, tracks
from simulate.shapes.planted import Log, Shape
from simulate.shapes.truth import write_truth

START = 1_789_200_000.0
"""2026-09-12 08:00 UTC; each shape starts a day after the one before."""

SHAPES = [
    names.seeds_in_one_group,
    names.techniques_in_one_group,
    names.one_default_name,
    names.launch_tails,
    names.other_rate_after_resume,
    restarts.resumed_under_trainer_global_step,
    restarts.resumed_under_train_step,
    restarts.resumed_under_rollout_step,
    restarts.dense_then_rare,
    restarts.coarser_relaunch,
    restarts.repeats_without_seeds,
    restarts.clock_behind,
    restarts.lone_tail,
    restarts.two_cadences,
    evaluations.evaluation_between_rollouts,
    evaluations.late_evaluation,
    evaluations.own_axis_declared,
    evaluations.own_axis_undeclared,
    evaluations.validated_before_training,
    tracks.second_pass,
    tracks.two_processes,
    tracks.orchestrator_and_trainer,
    tracks.ranks_of_one_name,
    tracks.ranks_of_other_names,
    axes.axis_told_by_define_metric,
    axes.synced_before_the_first_value,
    axes.key_renamed,
    axes.tracker_step_restarts,
    axes.log_without_an_axis,
]
"""Each plants its logs and their truth in the shape that it is given, named as the function is."""


def write(folder: Path, scale: str, seed: int) -> None:
    """Write `wandb/` and `truth/` below `folder`; sizes and values depend on the seed. There is only one scale."""
    shapes = planted(seed)
    for log in (log for shape in shapes for log in shape.logs):
        _write_log(folder / "wandb", log, random.Random(f"{seed}/{log.directory}"))
    write_truth(folder / "truth", shapes)


def planted(seed: int) -> list[Shape]:
    """Every shape, with its logs."""
    shapes = []
    for day, plant in enumerate(SHAPES):
        name = plant.__name__.replace("_", "-")
        shapes.append(Shape(name, random.Random(f"{seed}/{name}"), START + 86_400 * day))
        plant(shapes[-1])
    return shapes


def _write_log(folder: Path, log: Log, rng: random.Random) -> None:
    run = log.run
    (folder / log.directory).mkdir(parents=True)
    with LogWriter(folder / log.directory / f"run-{run.run_id}.wandb", shuffle=rng) as writer:
        writer.run(run.run_id, log.started_at, run.config, run.run_name, run.group, ENTITY, run.project)
        for pattern, step_metric in log.axes.items():
            writer.define_metric(pattern, step_metric)
        for values, _ in log.rows:
            writer.history(values)
        if log.has_exit:
            writer.exit(0, round(log.clock - log.started_at))
