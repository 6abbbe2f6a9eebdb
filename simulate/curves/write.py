"""Writes the W&B runs of a simulated campaign, the facts its people would declare, and the truth."""

import shutil
from pathlib import Path

from homes.console import progress
from simulate.curves.arms import PARSER_FIXED_AT, arms, metric_count
from simulate.curves.logs import write_logs
from simulate.curves.metrics import DEAD, EVALUATION, metric_names, true_values
from simulate.curves.trainer import Arm
from simulate.curves.truth import RECIPE, Truth
from simulate.curves.wandb_writer import FILE_HEADER
from simulate.files import write_csv


def write(folder: Path, scale: str, seed: int) -> None:
    """Write `wandb/`, `declared/` and `truth/` below `folder`.

    Truth: `curves.csv` (one line per arm, training step and metric; at scales that are a number only its totals, in
    arms.csv), `run_rows.csv`, `logs.csv`, `arms.csv`, `config_deviations.csv`, `findings.csv`.
    """
    planned = arms(scale, seed)
    names = metric_names(metric_count(scale))
    truth = Truth(folder / "truth", with_values=not scale.isdigit())
    summary_every = 1 if scale == "small" else 10
    for arm in progress(planned, "simulating W&B runs"):
        values = true_values(arm, names)
        logs = write_logs(folder / "wandb", arm, values, summary_every)
        truth.add(arm, logs, values)
    if scale == "small":
        truth.logs.append(_strays(folder / "wandb"))
    truth.write()
    _declare(folder / "declared", planned)


def _declare(folder: Path, planned: list[Arm]) -> None:
    write_csv(
        folder / "arms.csv",
        [
            "arm",
            "expected_step_count",
            "expected_rollouts_per_step",
            "is_running",
            "position_key",
            "headline_metric",
            "leaf_run_id",
            "note",
        ],
        [
            [
                *(a.name, a.expected_step_count, a.rollouts_per_step, str(a.is_running).lower()),
                *(None, None, None, a.note),
            ]
            for a in planned
            if a.expected_step_count
        ],
    )
    excluded = [a for a in planned if any(launch.is_excluded for launch in a.launches)]
    until = f"{PARSER_FIXED_AT:%Y-%m-%d %H:%M:%S}"
    reason = "Wrong tool parser: no tool call was recorded."
    write_csv(
        folder / "run_exclusions.csv",
        ["run_id", "arm", "logged_from", "logged_until", "reason", "source"],
        [[None, a.name, None, until, reason, "campaign notes"] for a in excluded],
    )
    write_csv(
        folder / "arm_assignments.csv",
        ["run_id", "run_pattern", "name_pattern", "group_pattern", "arm", "reason"],
        [
            *(
                [start.run_id, None, None, None, a.name, "Launched with a scratch exp_name."]
                for a in planned
                if a.named_by == "assigned"
                for start in a.starts
            ),
            *(
                [None, None, None, a.name, a.name, "Its runs have names that the tracker made up."]
                for a in planned
                if a.named_by == "group"
            ),
        ],
    )
    write_csv(
        folder / "frozen_recipe.csv",
        ["arm_pattern", "config_key", "value", "affects_learning", "note"],
        [["*", key, value, str(learning).lower(), None] for key, value, learning in RECIPE],
    )
    write_csv(
        folder / "metric_notes.csv",
        ["metric_pattern", "note", "is_comparable"],
        [
            [DEAD, "A legacy key that this recipe never fills; the learning curve is scores.", "false"],
            [EVALUATION.split("/")[0] + "/*", "Fresh rubrics make this unsuitable as a fixed quality test.", "false"],
        ],
    )


def _strays(folder: Path) -> list:
    """What lies about in a real folder: a link to the latest run, a backup of one, a log that is its header alone.

    Returns the truth of that log.
    """
    runs = sorted(path.name for path in folder.iterdir())
    (folder / "latest-run").symlink_to(runs[-1])
    shutil.copytree(folder / runs[0], folder / "backup" / runs[0])
    empty = folder / "run-20260911_080000-0nothing"
    empty.mkdir()
    (empty / "run-0nothing.wandb").write_bytes(FILE_HEADER)
    return [empty.name, None, 0, "true"]
