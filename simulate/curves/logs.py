"""The W&B logs of a simulated arm: what each launch of its trainer would have left on disk."""

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from simulate.curves.metrics import ABSENT, COLLIDING, EVALUATION, SETUP, redone_values
from simulate.curves.trainer import Arm, Launch
from simulate.curves.wandb_writer import LogWriter
from simulate.files import write_csv

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
    is_unfinished: bool | None = True
    rows: list[LoggedRow] = field(default_factory=list)
    is_duplicate: bool = False
    """Another source of the same run holds more."""


def write_logs(folder: Path, arm: Arm, values: dict[str, list], summary_every: int) -> list[Log]:
    """Write the logs of an arm below `folder`, a run directory each, with a summary record every so many rows.

    A launch may be kept as an exported history instead, or as well.
    """
    logs: list[Log] = []
    for i, launch in enumerate(arm.launches):
        if launch.joins == "log":
            continue
        parts = log_parts(arm, i)
        if launch.kept_as == "export":
            logs.append(_write_export(folder / "exports", arm, i, list(logged_rows(arm, parts, values))))
            continue
        logs.append(_write_log(folder, arm, parts, values, summary_every))
        if launch.kept_as == "both":
            logs.append(_write_early_export(folder / "exports", arm, i, list(logged_rows(arm, parts, values))))
    return logs


def log_parts(arm: Arm, first: int) -> list[int]:
    """The launch that opened a log and those that joined it."""
    parts = [first]
    while parts[-1] + 1 < len(arm.launches) and arm.launches[parts[-1] + 1].joins == "log":
        parts.append(parts[-1] + 1)
    return parts


def logged_rows(
    arm: Arm, parts: list[int], values: dict[str, list]
) -> Iterator[tuple[LoggedRow, float, dict[str, object]]]:
    """(row, time, what it holds) of every history row of a log, W&B's own keys included."""
    row_idx = 0
    for i in parts:
        for step, logged_at, row in _rows(arm, i, values):
            own = {
                "_step": row_idx,
                "_timestamp": round(logged_at, 6),
                "_runtime": round(logged_at - arm.starts[parts[0]].started_at, 6),
            }
            yield LoggedRow(i, row_idx, step), logged_at, row | own
            row_idx += 1


def _write_log(folder: Path, arm: Arm, parts: list[int], values: dict[str, list], summary_every: int) -> Log:
    launch, start = arm.launches[parts[0]], arm.starts[parts[0]]
    log = Log(start.run_id, start.log_directory)
    (folder / log.directory).mkdir(parents=True)
    rng = random.Random(f"{arm.seed}/{parts[0]}")
    sdk = "0.31.0" if launch.encoding == "nested_key" else "0.17.9"
    with LogWriter(folder / log.directory / f"run-{log.run_id}.wandb", launch.encoding, sdk, rng) as writer:
        config, group = _config(arm, launch), _group(arm)
        writer.run(start.run_id, start.started_at, config, start.run_name, group, ENTITY, PROJECT)
        for logged, logged_at, row in logged_rows(arm, parts, values):
            if logged.step is not None and logged.row_idx % SYSTEM_EVERY == 0:
                writer.stats(logged_at - 7.3, _system(logged.row_idx))
            writer.history(row)
            if logged.row_idx % summary_every == 0:
                writer.summary(row)
            log.rows.append(logged)
        if log.rows:
            writer.summary(row)  # the SDK writes one after each row
        _end(writer, arm, arm.launches[parts[-1]], log, rng)
    return log


def _write_export(folder: Path, arm: Arm, i: int, logged: list[tuple[LoggedRow, float, dict]]) -> Log:
    """A run whose log was lost and whose history was read over the API: history.jsonl with run.json beside it."""
    start = arm.starts[i]
    ended = arm.launches[i].end == "exit"
    (folder / start.run_id).mkdir(parents=True)
    with open(folder / start.run_id / "history.jsonl", "w", encoding="utf-8") as out:
        out.writelines(json.dumps(row, ensure_ascii=False) + "\n" for _, _, row in logged)
    note = {
        "id": start.run_id,
        "name": start.run_name,
        "state": "finished" if ended else "crashed",
        "project": PROJECT,
        "group": _group(arm),
        "created_at": start.started_at,
        "config": _config(arm, arm.launches[i]),
    }
    (folder / start.run_id / "run.json").write_text(json.dumps(note, indent=1) + "\n", encoding="utf-8")
    return Log(start.run_id, start.run_id, is_unfinished=not ended, rows=[row for row, _, _ in logged])


def _write_early_export(folder: Path, arm: Arm, i: int, logged: list[tuple[LoggedRow, float, dict]]) -> Log:
    """A CSV of the first half of a run's history, exported while it ran: a source that the whole log makes needless."""
    start = arm.starts[i]
    logged = logged[: len(logged) // 2]
    names = sorted({name for _, _, row in logged for name in row})
    rows = [[row.get(name) for name in names] for _, _, row in logged]
    write_csv(folder / "by-run" / arm.name / f"{start.run_id}.csv", names, rows)
    return Log(start.run_id, arm.name, None, [row for row, _, _ in logged], is_duplicate=True)


def _rows(arm: Arm, i: int, values: dict[str, list]) -> Iterator[tuple[int | None, float, dict[str, object]]]:
    """(step, time, row) of every row a launch logs."""
    launch = arm.launches[i]
    if arm.has_setup_rows and launch.steps:
        yield None, arm.starts[i].started_at + 5, dict(SETUP)
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
        yield step, at, _nested(place | metrics)
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


def _nested(row: dict[str, object]) -> dict[str, object]:
    """The row as logged: the colliding name both as a plain key and as a nested one."""
    if COLLIDING in row:
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


def _group(arm: Arm) -> str:
    return {"group": arm.name, "plain_name": ""}.get(arm.named_by, PROJECT)


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
