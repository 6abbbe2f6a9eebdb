"""The native metrics and W&B records of a simulated campaign in rounds: four launches, step 5 done twice."""

import random
from datetime import timedelta
from pathlib import Path

from simulate.curves.wandb_writer import LogWriter
from simulate.rounds.plan import DIAGNOSTIC, RUN, TRACKER_ID, Shape, begins, write_json, write_lines

SEGMENTS = (("before_b1", 1, 1), ("before_recovery", 2, 5), ("before_pause", 5, 6), (None, 7, None))
"""(part of the file name, first step, last step) of each launch. Step 5 was interrupted and done again."""
NAN = "ours_ropd/q_std"
"""NaN on the first step: null in the native file, NaN in W&B."""
SAMPLES_A_STEP = 3


def write_metrics(folder: Path, shape: Shape, seed: int, figures: dict[int, dict]) -> list[list]:
    """Write `verl_metrics/`, `wandb/` and `wandb_export/` of the run. Returns the truth: (step, metric, value,
    name of the file that stands)."""
    rng = random.Random(f"metrics/{seed}")
    run = folder / RUN
    names = [f"actor/layer_{n}/grad_norm" for n in range(20)] + ["actor/entropy", "perf/mfu", "timing_s/gen"]
    standing = {step: _values(rng, step, names, figures[step]) for step in range(1, shape.rounds + 1)}
    names_of: dict[int, str] = {}
    for launch, (part, first, last) in enumerate(SEGMENTS):
        steps = range(first, (last or shape.rounds) + 1)
        rows = {step: standing[step] for step in steps}
        if part == "before_recovery":
            rows[5] = _values(rng, 5, names, figures[5])
        file = f"rounds.{part}.jsonl" if part else "rounds.jsonl"
        lines = ({"step": step, "data": data} for step, data in rows.items())
        write_lines(run / "verl_metrics" / "distillation" / file, lines)
        names_of |= dict.fromkeys(steps, file)
        at = begins(first) - timedelta(minutes=5)
        place = run / "wandb" / "wandb" / f"run-{at:%Y%m%d_%H%M%S}-{TRACKER_ID}"
        _write_log(place, TRACKER_ID, at.timestamp(), rows, is_last=launch == len(SEGMENTS) - 1)
    for number in range(2):
        name = f"{DIAGNOSTIC}-{number}"
        place = folder / DIAGNOSTIC / "wandb" / f"run-20260908_19000{number}-{name}"
        _write_log(place, name, begins(1).timestamp(), {1: {"heartbeat": 1.0}}, is_last=True)
    export = run / "wandb_export" / f"{RUN}-rounds"
    write_json(export / "run.json", {"id": TRACKER_ID, "state": "finished", "eventsLineCount": shape.system_events})
    records = [{"_timestamp": begins(1).timestamp() + n, "system.cpu": 1.5 * n} for n in range(shape.system_rows)]
    write_json(export / "system_metrics.json", records)
    return [[step, *found, names_of[step]] for step, data in standing.items() for found in data.items()]


def logged_sample_count(shape: Shape) -> int:
    """System samples in the run's own logs."""
    return SAMPLES_A_STEP * sum((last or shape.rounds) - first + 1 for _, first, last in SEGMENTS)


def _values(rng: random.Random, step: int, names: list[str], figures: dict) -> dict[str, float | None]:
    noise = {name: round(rng.gauss(1, 0.1), 8) for name in names}
    nan = None if step == 1 else round(rng.random(), 8)
    return {"training/global_step": step, "training/epoch": 0, **noise, NAN: nan, **figures}


def _write_log(place: Path, run_id: str, at: float, rows: dict[int, dict], is_last: bool) -> None:
    place.mkdir(parents=True)
    with LogWriter(place / f"run-{run_id}.wandb", "nested_key") as writer:
        writer.run(run_id, at, {"trainer": {"nnodes": 1}}, f"{run_id}-rounds", project="distillation")
        for n, (step, data) in enumerate(rows.items()):
            values = {key: float("nan") if value is None else value for key, value in data.items()}
            seconds = 3600.0 * (n + 1)
            writer.history(values | {"_step": step, "_timestamp": at + seconds, "_runtime": seconds})
            for sample in range(SAMPLES_A_STEP):
                writer.stats(at + seconds + sample, {"cpu": 10.0 + sample})
        if is_last:
            writer.exit(0, 3600)
