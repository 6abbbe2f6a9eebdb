"""The W&B logs of a simulated arm: what each launch of its trainer would have left on disk."""

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from simulate.metrics import ABSENT, COLLIDING, EVALUATION, redone_values
from simulate.trainer import Arm, Launch
from simulate.wandb_writer import LogWriter

ENTITY, PROJECT = "sim-lab", "sc3"
SYSTEM_EVERY = 5
"""Rows between samples of system metrics."""


@dataclass
class LoggedRow:
    """What the trainer knows of one history row. `step` is its own step; None where the row has no position."""

    launch: int
    row_idx: int
    step: int | None


@dataclass
class Log:
    """One log directory and the rows it holds; a row torn by a cut is none of them."""

    run_id: str
    directory: str
    is_unfinished: bool = True
    rows: list[LoggedRow] = field(default_factory=list)


def write_logs(folder: Path, arm: Arm, values: dict[str, list], summary_every: int) -> list[Log]:
    """Write the logs of an arm below `folder`, a run directory each, with a summary record every so many rows."""
    logs: list[Log] = []
    for i, launch in enumerate(arm.launches):
        if launch.joins == "log":
            continue
        start = arm.starts[i]
        log = Log(start.run_id, start.log_directory)
        (folder / start.log_directory).mkdir(parents=True)
        rng = random.Random(f"{arm.seed}/{i}")
        sdk = "0.31.0" if launch.encoding == "nested_key" else "0.17.9"
        path = folder / start.log_directory / f"run-{start.run_id}.wandb"
        with LogWriter(path, launch.encoding, sdk, rng) as writer:
            group = arm.name if arm.named_by == "group" else "" if arm.named_by == "plain_name" else "sc3"
            writer.run(start.run_id, start.started_at, _config(arm, launch), start.run_name, group, ENTITY, PROJECT)
            for part in _parts(arm, i):
                _write_part(writer, arm, part, values, log, summary_every, start.started_at)
            _end(writer, arm, arm.launches[_parts(arm, i)[-1]], log, rng)
        logs.append(log)
    return logs


def _parts(arm: Arm, first: int) -> list[int]:
    """The launch that opened a log and those that joined it."""
    parts = [first]
    while parts[-1] + 1 < len(arm.launches) and arm.launches[parts[-1] + 1].joins == "log":
        parts.append(parts[-1] + 1)
    return parts


def _write_part(
    writer: LogWriter, arm: Arm, i: int, values: dict[str, list], log: Log, summary_every: int, started_at: float
) -> None:
    for step, logged_at, row in _rows(arm, i, values):
        row_idx = len(log.rows)
        if step is not None and row_idx % SYSTEM_EVERY == 0:
            writer.stats(logged_at - 7.3, _system(row_idx))
        row |= {
            "_step": row_idx,
            "_timestamp": round(logged_at, 6),
            "_runtime": round(logged_at - started_at, 6),
        }
        writer.history(row)
        if row_idx % summary_every == 0:
            writer.summary(row)
        log.rows.append(LoggedRow(i, row_idx, step))


def _rows(arm: Arm, i: int, values: dict[str, list]) -> Iterator[tuple[int | None, float, dict[str, object]]]:
    """(step, time, row) of every row a launch logs."""
    launch = arm.launches[i]
    if arm.has_unpositioned_rows and launch.steps:
        yield None, arm.starts[i].started_at + 5, {"setup/vocabulary_tokens": 151_936}
    standing = [s for s in launch.steps if arm.owner.get(s) == i and not launch.is_excluded]
    redone = range(standing[-1] + 1 if standing else launch.first_step, launch.last_step + 1)
    near = redone_values(arm, i, values, redone)
    names = list(values)
    for step in launch.steps:
        if step in arm.unlogged_steps:
            continue
        if step in redone:
            column = [near[name][step - redone.start] for name in names]
        else:
            column = [values[name][step - 1] for name in names]
        metrics = {name: value for name, value in zip(names, column, strict=True) if value is not ABSENT}
        yield from _step_rows(arm, launch, i, step, metrics)


def _step_rows(
    arm: Arm, launch: Launch, i: int, step: int, metrics: dict[str, object]
) -> Iterator[tuple[int, float, dict[str, object]]]:
    at = arm.logged_at(i, step)
    place = place_of(arm, i, step)
    if launch.rows == "one":
        yield step, at, _nested(arm, place | metrics)
    elif launch.rows == "split":
        evaluation = {EVALUATION: metrics.pop(EVALUATION)} if EVALUATION in metrics else {}
        yield step, at, place | metrics
        if evaluation:
            yield step, at + 1.5, {arm.position_key: place[arm.position_key]} | evaluation
    else:
        position = {arm.position_key: place[arm.position_key]}
        # A value logged again within its step: the last one counts.
        yield step, at, position | {"lr": 1.0}
        for n, (name, value) in enumerate((place | metrics).items()):
            if name != arm.position_key:
                yield step, at + 0.001 * (n + 1), position | {name: value}


def place_of(arm: Arm, i: int, step: int) -> dict[str, object]:
    """The counters of a step, which are metrics too: the position, and the trainer's own step where it logs one."""
    place: dict[str, object] = {arm.position_key: arm.positions[i][step]}
    if arm.position_key == "global_step":
        place["episode"] = arm.positions[i][step]
    if arm.trainer_step_key:
        place[arm.trainer_step_key] = step
    return place


def _nested(arm: Arm, row: dict[str, object]) -> dict[str, object]:
    """The row as logged: an arm with oddities logs one name both as a plain key and as a nested one."""
    if arm.has_oddities:
        row = row | {"val": {"kl": row[COLLIDING]}}
    return row


def _end(writer: LogWriter, arm: Arm, launch: Launch, log: Log, rng: random.Random) -> None:
    if launch.end == "exit":
        writer.summary({"_runtime": len(log.rows)})
        writer.exit(0, len(log.rows))
        log.is_unfinished = False
    elif launch.end == "torn":
        torn = {arm.position_key: 10**9, "scores": 0.5, "loss/policy_avg": rng.random(), "_step": len(log.rows)}
        writer.history(torn)
        writer.cut(rng.randrange(8, 60))


def _config(arm: Arm, launch: Launch) -> dict[str, object]:
    config: dict[str, object] = {
        "seed": 42,
        "learning_rate": 1e-6,
        "pack_length": 67584,
        "response_length": 65536,
        "pool_size": 512,
        "tool_parser_type": "vllm_qwen3_xml",
        "model_name_or_path": "org/base",
        "vllm": {"gpu_memory_utilization": 0.9, "num_engines": 8},
    }
    if arm.named_by == "exp_name":
        config["exp_name"] = arm.name
    elif arm.named_by == "assigned":
        config["exp_name"] = "scratch"
    return config | arm.config | launch.config


def _system(sample: int) -> dict[str, float]:
    return {
        "gpu.0.gpu": 90.0 + sample % 7,
        "gpu.0.memoryAllocatedBytes": 7.1e10 + sample,
        "cpu": 12.5,
        "memory_percent": 40.25,
        "proc.memory.rssMB": 61_000.0 + sample,
    }
