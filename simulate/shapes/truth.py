"""The truth of planted shapes as tables: every row, arm, value and finding that was stated when it was planted."""

from collections.abc import Iterator
from pathlib import Path

from simulate.files import write_csv
from simulate.shapes.planted import Log, Place, Shape

Curve = dict[tuple[int, str], object]
"""(training_step, metric) -> value."""


def write_truth(folder: Path, shapes: list[Shape]) -> None:
    """Write run_rows.csv, run_arms.csv, arms.csv, arm_steps.csv, curves.csv and findings.csv into `folder`.

    A null label (`drop_reason`) is a kept row. Raises ValueError where a shape states two things of one step.
    """
    write_csv(
        folder / "run_rows.csv",
        [
            *("run_id", "log_directory", "row_idx", "arm", "drop_reason", "training_step", "position"),
            *("position_source", "track_number", "superseded_by_run_id"),
        ],
        [
            [
                *(log.run.run_id, log.directory, row_idx, log.run.arm, place.drop_reason, place.training_step),
                *(place.position, place.source, place.track, place.superseded_by),
            ]
            for shape in shapes
            for log in shape.logs
            for row_idx, (_, place) in enumerate(log.rows)
        ],
    )
    runs = {log.run.run_id: log.run for shape in shapes for log in shape.logs}
    write_csv(
        folder / "run_arms.csv",
        ["run_id", "arm", "evidence", "variant_of", "seed"],
        [[run.run_id, run.arm, run.evidence, run.variant_of, run.seed] for run in runs.values()],
    )
    arms, steps, values = [], [], []
    for shape in shapes:
        for arm, key in shape.position_keys.items():
            logs = [log for log in shape.logs if log.run.arm == arm]
            made = _steps(arm, logs)
            arms.append([arm, shape.name, key, len({log.run.run_id for log in logs}), len(logs), len(made)])
            steps += [[arm, n, *made[n]] for n in made]
            values += [[arm, n, metric, value] for (n, metric), value in sorted(_curve(arm, logs).items())]
    write_csv(folder / "arms.csv", ["arm", "project", "position_key", "run_count", "log_count", "step_count"], arms)
    write_csv(folder / "arm_steps.csv", ["arm", "training_step", "position", "run_id"], steps)
    write_csv(folder / "curves.csv", ["arm", "training_step", "metric", "value"], values)
    write_csv(folder / "findings.csv", ["kind", "subject"], sorted(f for shape in shapes for f in shape.findings))


def _steps(arm: str, logs: list[Log]) -> dict[int, tuple[float, str]]:
    """(position, run) of each training step, in their order."""
    made: dict[int, tuple[float, str]] = {}
    for n, log, _, place in _kept(logs):
        if place.is_step and place.position is not None:
            own = (place.position, log.run.run_id)
            if made.setdefault(n, own) != own:
                raise ValueError(f"{arm}: two rows make training step {n}")
    positions = [made[n][0] for n in sorted(made)]
    if sorted(made) != list(range(1, len(made) + 1)) or positions != sorted(set(positions)):
        raise ValueError(f"{arm}: training steps {sorted(made)} at {positions}")
    return dict(sorted(made.items()))


def _curve(arm: str, logs: list[Log]) -> Curve:
    """The value of each metric on the curve; the shape says which of two values stands."""
    curve: Curve = {}
    for n, _, values, place in _kept(logs):
        for metric, value in values.items():
            if metric.startswith("_") or metric in place.overridden:
                continue
            if curve.setdefault((n, metric), value) != value:
                raise ValueError(f"{arm}: two values of {metric} at training step {n}")
    for n, _, values, _ in _kept(logs):
        if not {(n, metric) for metric in values if not metric.startswith("_")} <= set(curve):
            raise ValueError(f"{arm}: a metric is overridden by nothing at training step {n}")
    return curve


def _kept(logs: list[Log]) -> Iterator[tuple[int, Log, dict[str, object], Place]]:
    """(training step, log, values, place) of every row that is kept."""
    for log in logs:
        for values, place in log.rows:
            if place.training_step is not None:
                yield place.training_step, log, values, place
