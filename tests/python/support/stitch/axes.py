"""Inputs of the oracle, and how an arm's axis is chosen: docs/reference/judgement.md, sections A, C1 and C2.

Times and positions are plain numbers; None is unknown. Nothing here is shared with the models.
"""

import itertools
import math
import re
import statistics
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field


def words(text: str) -> list[str]:
    return text.split()


POSITION_KEYS = words(
    "global_step train/global_step training/global_step trainer/global_step train/step train_step training_step "
    "trainer/step training/step rollout/step step iteration train/iteration training/iteration training_iteration iter"
)
TRAINER_STEP_KEYS = words("training_step train/global_step training/global_step trainer/global_step")
AXIS_NAMES = set(
    words(
        "step steps global_step global_steps train_step training_step iteration iterations iter "
        "training_iteration update updates epoch epochs timestep timesteps total_timesteps num_timesteps "
        "env_steps episode episodes timestamp time wall_time walltime runtime elapsed tokens num_tokens "
        "total_tokens num_input_tokens_seen samples consumed_samples"
    )
)
REACH_GAPS = 2
KINDS = ("log", "api", "export")


@dataclass
class Row:
    """A logged row: the tracker's own step, its time, and its values (a number, text, or None for null)."""

    step: float | None
    logged_at: float | None
    values: dict[str, float | str | None]


@dataclass
class Axis:
    """What a run declared: metrics that match `pattern` lie over `step_metric`."""

    pattern: str
    step_metric: str


@dataclass
class Log:
    """One source of rows of a run; a row's ordinal is its place in `rows`."""

    log_id: str
    run_id: str
    rows: list[Row]
    kind: str = "log"
    run_name: str | None = None
    group: str | None = None
    arm_in_path: str | None = None
    started_at: float | None = None
    config: dict[str, str] = field(default_factory=dict)
    axes: list[Axis] = field(default_factory=list)


@dataclass
class Declared:
    """`assignments`: (kind, id or pattern, arm); kind is run_id, run_pattern, name_pattern or group_pattern.

    `exclusions`: (run_id, arm, from, until). `unlearned`: (arm pattern, config key) that do not affect learning.
    """

    assignments: list[tuple[str, str, str]] = field(default_factory=list)
    exclusions: list[tuple] = field(default_factory=list)
    unlearned: list[tuple[str, str]] = field(default_factory=list)
    position_keys: dict[str, str] = field(default_factory=dict)
    headline_metrics: dict[str, str] = field(default_factory=dict)
    leaf_run_ids: dict[str, str] = field(default_factory=dict)


def choose_key(rows: list[tuple[Log, Row]], declared_key: str | None) -> str | None:
    """The axis of these rows (C1); `_step` is the tracker's own step."""
    if declared_key:
        return declared_key
    numbers = defaultdict(set)
    for _, row in rows:
        for metric, value in row.values.items():
            if not metric.startswith("_") and number(value) is not None:
                numbers[metric].add(value)
        if row.step is not None:
            numbers["_step"].add(row.step)
    axes = declared_axes(log for log, _ in rows)
    votes: Counter = Counter()
    for log, row in rows:
        for metric in row.values:
            if is_connecting(metric, axes):
                votes[step_metric_of(log, metric)] += 1
    total = sum(votes.values())
    best = min((s for s in votes if s in numbers), key=lambda s: (-votes[s], s), default=None)
    if best is not None and 2 * votes[best] >= total:
        return best
    return first_that_rises(POSITION_KEYS, numbers) or ("_step" if "_step" in numbers else None)


def first_that_rises(keys: Iterable[str], numbers: dict[str, set]) -> str | None:
    """The first key with two different numbers, else the first with one."""
    logged = [key for key in keys if numbers.get(key)]
    return next((key for key in logged if len(numbers[key]) > 1), logged[0] if logged else None)


def declared_axes(logs: Iterable[Log]) -> set[str]:
    return {axis.step_metric for log in logs for axis in log.axes}


def step_synced(log: Log, rows: list[tuple[int, Row]], key: str | None, axes: set[str]) -> set[int]:
    """Ordinals of rows into which W&B wrote the key before its first real value (C2)."""
    if key in (None, "_step") or key not in declared_axes([log]):
        return set()
    having = [(i, row, x) for i, row in rows if (x := at(row, key)) is not None]
    real = next((n for n, (*_, x) in enumerate(having) if x != having[0][2]), None)
    if real is None:
        return set()
    block, (_, first, v2) = having[:real], having[real]
    v1, gap = block[0][2], median(rises([x for *_, x in having[real:]]))
    shared = {m for _, row, _ in block for m in row.values if is_connecting(m, axes)} & set(first.values)
    is_synced = not shared and ((v1 == 0 and v2 > REACH_GAPS * gap) or v1 > v2)
    return {i for i, *_ in block} if is_synced else set()


def step_metric_of(log: Log, metric: str) -> str | None:
    """What the log declared for a metric: the exact pattern, else the longest prefix."""
    found = []
    for axis in log.axes:
        if axis.pattern == metric:
            found.append((0, 0, axis.step_metric))
        elif axis.pattern.endswith("*") and metric.startswith(axis.pattern[:-1]):
            found.append((1, -len(axis.pattern), axis.step_metric))
    return min(found)[2] if found else None


def standing(logs: list[Log]) -> list[Log]:
    """Of one run's logs those of the kind that has most rows."""
    counts = Counter(dict.fromkeys(KINDS, 0))
    for log in logs:
        counts[log.kind] += len(log.rows)
    best = max(KINDS, key=lambda kind: (counts[kind], -KINDS.index(kind)))
    return [log for log in logs if log.kind == best]


def is_connecting(metric: str, axes: set[str]) -> bool:
    return not metric.startswith("_") and metric not in axes and last(metric) not in AXIS_NAMES


def last(key: str, separators: str = "/.", lower: bool = True) -> str:
    found = re.search(f"[^{separators}]+$", key)
    text = found[0] if found else key
    return text.lower() if lower else text


def at(row: Row, key: str | None) -> float | None:
    return None if key is None else number(row.step) if key == "_step" else number(row.values.get(key))


def number(value: object) -> float | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    return float(value) if is_number else None


def time_of(log: Log, row: Row) -> float | None:
    return log.started_at if row.logged_at is None else row.logged_at


def log_order(log: Log) -> tuple:
    """The order of a run's logs: by start, unknown first, then by the tracker's first step, unknown first."""
    steps = [row.step for row in log.rows if row.step is not None]
    return (
        (log.started_at is not None, log.started_at or 0),
        (bool(steps), min(steps, default=0)),
        log.log_id,
    )


def nulls_last(time: float | None) -> tuple[bool, float]:
    return (time is None, time or 0)


def rises(positions: list[float]) -> list[float]:
    return [b - a for a, b in itertools.pairwise(positions) if b > a]


def median(gaps: list[float]) -> float:
    return statistics.median(gaps) if gaps else 0


def glob(pattern: str, text: str) -> bool:
    parts = [".*" if c == "*" else "." if c == "?" else re.escape(c) for c in pattern]
    return re.fullmatch("".join(parts), text, re.DOTALL) is not None
