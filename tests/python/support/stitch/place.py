"""Positions and segments of one log's rows, in plain Python: sections C3, C4 and D1 of docs/reference/judgement.md."""

import itertools
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tests.python.support.stitch.axes import (
    Log,
    Row,
    at,
    declared_axes,
    is_connecting,
    last,
    median,
    number,
    rises,
    step_synced,
    time_of,
)

if TYPE_CHECKING:
    from tests.python.support.stitch.oracle import Track


@dataclass(eq=False)
class Label:
    """What became of a row. `kind` is core, extra or carried (section C4); null where it has no position."""

    log: Log = field(repr=False)
    row_idx: int
    row: Row
    arm: str
    drop_reason: str | None = None
    position: float | None = None
    position_source: str | None = None
    kind: str | None = None
    segment: "Segment | None" = None
    superseded_by_run_id: str | None = None
    gap_ratio: float | None = None
    training_step: int | None = None

    @property
    def segment_number(self) -> int | None:
        return self.segment.number if self.segment else None

    @property
    def track_number(self) -> int | None:
        return self.segment.track.number if self.segment else None

    @property
    def time(self) -> float | None:
        return time_of(self.log, self.row)


@dataclass(eq=False)
class Segment:
    arm: str
    log: Log = field(repr=False)
    rows: list[Label] = field(default_factory=list, repr=False)
    number: int = 0
    parent: "Segment | None" = field(default=None, repr=False)
    is_chosen: bool = False
    track: "Track | None" = field(default=None, repr=False)

    def core(self) -> list[Label]:
        return [r for r in self.rows if r.kind == "core"]

    def steps(self) -> list[float]:
        """Positions of its logged steps."""
        return sorted({r.position for r in self.core()})

    @property
    def first(self) -> float:
        return self.steps()[0]

    @property
    def last(self) -> float:
        return self.steps()[-1]

    @property
    def own_gap(self) -> float:
        return median(rises(self.steps()))

    @property
    def started_at(self) -> float | None:
        return next((r.time for r in self.core() if r.time is not None), None)

    def path(self) -> list["Segment"]:
        return [*(self.parent.path() if self.parent else []), self]

    def path_length(self) -> int:
        return sum(len(s.steps()) for s in self.path())


def place(arm: str, rows: list[Label], key: str | None, axes: set[str]) -> list[Segment]:
    """Give the rows of one log positions, kinds and segments; returns the segments."""
    log = rows[0].log
    synced = step_synced(log, [(r.row_idx, r.row) for r in rows], key, axes)
    logged = [r for r in rows if r.row_idx not in synced and at(r.row, key) is not None]
    if logged:
        for row in logged:
            row.position, row.position_source = at(row.row, key), "logged"
        _place_others(log, rows, logged, synced, key)
    elif (other := _other_key(rows, key)) is not None:
        logged = [r for r in rows if at(r.row, other) is not None]
        for row in logged:
            row.position, row.position_source = at(row.row, other), "step_metric"
    else:
        return []
    late = _late(logged, axes)
    for row in rows:
        if row in logged and row.row_idx not in late:
            row.kind = "core"
        elif row.position is not None:
            row.kind = "extra"
    placed = [r for r in rows if r.position is not None]
    for row in rows:
        if row.position is None:
            row.kind, row.position_source, row.position = "carried", "carried", _nearest(row, placed).position
    segments: list[Segment] = []
    before = None
    for row in rows:
        if row.kind == "core":
            if before is None or row.position < before.position:
                segments.append(Segment(arm, log))
            row.segment, before = segments[-1], row
    core = [r for r in rows if r.kind == "core"]
    for row in rows:
        row.segment = row.segment or _nearest(row, core).segment
        row.segment.rows.append(row)
    return segments


def _nearest(row: Label, among: list[Label]) -> Label:
    """The nearest row before it in the log, else the first after."""
    before = [r for r in among if r.row_idx <= row.row_idx]
    return before[-1] if before else among[0]


def _other_key(rows: list[Label], key: str | None) -> str | None:
    """In a log without the key: the most logged one of the same last name."""
    counts: dict[str, int] = defaultdict(int)
    for row in rows:
        for metric in row.row.values:
            if _may_stand_for(metric, key, set()) and at(row.row, metric) is not None:
                counts[metric] += 1
    return min(counts, key=lambda metric: (-counts[metric], metric), default=None)


def _may_stand_for(metric: str, key: str | None, step_metrics: set[str]) -> bool:
    if key is None or metric == key or metric.startswith("_"):
        return False
    return metric in step_metrics or last(metric) == last(key)


def _place_others(log: Log, rows: list[Label], logged: list[Label], synced: set[int], key: str) -> None:
    step_metrics = declared_axes([log])
    logged_ids = {r.row_idx for r in logged}
    gap = median(rises([r.position for r in logged]))
    candidates = {m for r in rows for m in r.row.values if _may_stand_for(m, key, step_metrics)}
    usable = [r for r in rows if r.row_idx not in synced]
    paced = [m for m in candidates if all(_keeps_pace(r, m, logged, gap) for r in usable)]
    paced.sort(key=lambda m: (m not in step_metrics, m))
    having = [r for r in logged if number(r.row.step) is not None]
    offsets = {r.position - r.row.step for r in having}
    has_offset = key != "_step" and len({r.position for r in having}) > 1 and len(offsets) == 1
    for row in rows:
        if row.row_idx in logged_ids:
            continue
        step_metric = next((m for m in paced if at(row.row, m) is not None), None)
        if step_metric:
            row.position, row.position_source = at(row.row, step_metric), "step_metric"
        elif has_offset and number(row.row.step) is not None:
            row.position, row.position_source = row.row.step + min(offsets), "tracker_step"


def _keeps_pace(row: Label, metric: str, logged: list[Label], gap: float) -> bool:
    value = at(row.row, metric)
    if value is None:
        return True
    a = next((r.position for r in reversed(logged) if r.row_idx <= row.row_idx), None)
    b = next((r.position for r in logged if r.row_idx >= row.row_idx), None)
    low = min(0 if a is None else a, a if b is None else b) - gap
    high = a + 2 * gap if b is None else max(b if a is None else a, b) + gap
    return low <= value <= high


def _late(logged: list[Label], axes: set[str]) -> set[int]:
    """Rows of a lower position between two higher ones, with other metrics than the row after them (C4)."""
    blocks = [list(g) for _, g in itertools.groupby(logged, key=lambda r: r.position)]
    found = set()
    for before, block, after in zip(blocks, blocks[1:], blocks[2:], strict=False):
        a, p, b = before[0].position, block[0].position, after[0].position
        own = {m for r in block for m in r.row.values if is_connecting(m, axes)}
        if a > p and b >= a and not own & set(after[0].row.values):
            found |= {r.row_idx for r in block}
    return found
