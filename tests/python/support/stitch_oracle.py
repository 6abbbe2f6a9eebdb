"""The stitch in plain Python, written from its description alone, row by row and list by list: the oracle of the SQL.

Nothing here is shared with the models. Positions and times are plain numbers; None is absent or unknown.
"""

import itertools
import math
import statistics
from collections import defaultdict
from dataclasses import dataclass, field

POSITION_KEYS = ("global_step", "train/global_step", "training/global_step", "training_step", "_step")
SEAM_RATIO = 0.10
REACH_GAPS = 2
HOLE_GAPS = 5
KIND_ORDER = ("log", "api", "export")


@dataclass
class Log:
    """One source of rows. Each row is (time or None, values by key); the time is in whole seconds."""

    log_id: str
    run_id: str
    arm: str
    kind: str
    started_at: int | None
    rows: list[tuple[int | None, dict]]


@dataclass
class Declared:
    """`exclusions` are (run_id, arm, from, until); the rest are by arm."""

    exclusions: list[tuple] = field(default_factory=list)
    position_keys: dict[str, str] = field(default_factory=dict)
    leaf_run_ids: dict[str, str] = field(default_factory=dict)


@dataclass
class Row:
    """A history row on its way through the stitch."""

    log: Log
    row_idx: int
    time: int | None
    values: dict
    position: float | None = None
    label: str | None = None
    superseded_by: str | None = None
    gap_ratio: float | None = None
    training_step: int | None = None
    segment_number: int | None = None


@dataclass
class Segment:
    rows: list[Row]
    number: int = 0
    parent: "Segment | None" = None

    @property
    def log(self) -> Log:
        return self.rows[0].log

    @property
    def start(self) -> float:
        return self.rows[0].position

    @property
    def end(self) -> float:
        return self.rows[-1].position

    @property
    def time(self) -> int | None:
        return next((r.time for r in self.rows if r.time is not None), None)

    def steps(self) -> dict[float, list[Row]]:
        found = defaultdict(list)
        for row in self.rows:
            found[row.position].append(row)
        return found

    def path(self) -> list["Segment"]:
        return [*(self.parent.path() if self.parent else []), self]


def stitch(logs: list[Log], declared: Declared, lineage_choice: str) -> list[Row]:
    """Every row of every log with its label, over all arms."""
    rows = [Row(log, i, log.started_at if t is None else t, v) for log in logs for i, (t, v) in enumerate(log.rows)]
    _label_duplicates(rows)
    for row in rows:
        if row.label is None and any(_is_excluded(row, e) for e in declared.exclusions):
            row.label = "excluded"
    for arm in {log.arm for log in logs}:
        _stitch_arm([r for r in rows if r.log.arm == arm], arm, declared, lineage_choice)
    return rows


def _label_duplicates(rows: list[Row]) -> None:
    counts = defaultdict(lambda: defaultdict(int))
    for row in rows:
        counts[row.log.run_id][row.log.kind] += 1
    for row in rows:
        by_kind = counts[row.log.run_id]
        standing = max(by_kind, key=lambda kind: (by_kind[kind], -KIND_ORDER.index(kind)))
        if row.log.kind != standing:
            row.label = "duplicate_source"


def _is_excluded(row: Row, exclusion: tuple) -> bool:
    run_id, arm, start, end = exclusion
    if run_id is None and arm is None:
        return False
    if run_id not in (None, row.log.run_id) or arm not in (None, row.log.arm):
        return False
    if start is None and end is None:
        return True
    return row.time is not None and (start is None or start <= row.time) and (end is None or row.time < end)


def _number(value: object) -> float | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    return float(value) if is_number else None


def _stitch_arm(rows: list[Row], arm: str, declared: Declared, lineage_choice: str) -> None:
    usable = [r for r in rows if r.label is None]
    key = declared.position_keys.get(arm)
    if key is None:
        logged = {k for r in usable for k, v in r.values.items() if _number(v) is not None}
        key = next((k for k in POSITION_KEYS if k in logged), None)
    for row in rows:
        row.position = None if key is None else _number(row.values.get(key))
        if row.label is None and row.position is None:
            row.label = "unpositioned"
    segments = _segments([r for r in usable if r.label is None])
    if not segments:
        return
    gaps = [b - a for s in segments for a, b in _neighbours(sorted(s.steps()))]
    reach = REACH_GAPS * (statistics.median(gaps) if gaps else 0)
    for i, child in enumerate(segments):
        for earlier in segments[:i]:
            if earlier.start < child.start and earlier.end >= child.start - reach:
                child.parent = earlier
    chosen = _choose(segments, declared.leaf_run_ids.get(arm), lineage_choice)
    survivors = _truncate(segments, chosen)
    _collapse(survivors)


def _segments(rows: list[Row]) -> list[Segment]:
    segments = []
    for log_id in sorted({r.log.log_id for r in rows}):
        of_log = sorted((r for r in rows if r.log.log_id == log_id), key=lambda r: r.row_idx)
        current = Segment([of_log[0]])
        for before, row in _neighbours(of_log):
            if row.position < before.position:
                segments.append(current)
                current = Segment([])
            current.rows.append(row)
        segments.append(current)
    segments.sort(key=lambda s: (s.time is None, s.time or 0, s.log.run_id, s.log.log_id, s.rows[0].row_idx))
    for number, segment in enumerate(segments, 1):
        segment.number = number
        for row in segment.rows:
            row.segment_number = number
    return segments


def _choose(segments: list[Segment], leaf_run_id: str | None, lineage_choice: str) -> list[Segment]:
    of_run = [s for s in segments if s.log.run_id == leaf_run_id]
    if of_run:
        return of_run[-1].path()
    leaves = [s for s in segments if not any(t.parent is s for t in segments)]
    if lineage_choice == "furthest":
        return max(leaves, key=lambda s: (sum(len(p.steps()) for p in s.path()), s.number)).path()
    return segments[-1].path()


def _truncate(segments: list[Segment], chosen: list[Segment]) -> list[tuple[float, Segment, list[Row]]]:
    survivors = []
    for segment in segments:
        later = [s for s in chosen if s.number > segment.number]
        for position, rows in segment.steps().items():
            redone = [s for s in later if s.start <= position]
            for row in rows:
                if redone:
                    row.label, row.superseded_by = "rolled_back", redone[0].log.run_id
                elif segment not in chosen:
                    row.label = "other_lineage"
            if not redone and segment in chosen:
                survivors.append((position, segment, rows))
    survivors.sort(key=lambda s: (s[0], s[1].number))
    return survivors


def _collapse(survivors: list[tuple[float, Segment, list[Row]]]) -> None:
    gaps = [b[0] - a[0] for a, b in _neighbours(survivors)]
    median = statistics.median(gaps) if gaps else None
    groups = [[survivors[0]]]
    for gap, survivor in zip(gaps, survivors[1:], strict=True):
        for row in survivor[2]:
            row.gap_ratio = gap / median
        if gap / median < SEAM_RATIO:
            groups[-1].append(survivor)
        else:
            groups.append([survivor])
    for step, group in enumerate(groups, 1):
        standing = max(group, key=lambda s: (s[1].number, s[0]))
        for survivor in group:
            for row in survivor[2]:
                if survivor is standing:
                    row.training_step = step
                else:
                    row.label, row.superseded_by = "seam_collapsed", standing[1].log.run_id


def curve_values(rows: list[Row]) -> dict[tuple[str, int, str], object]:
    """(arm, training_step, metric) -> value: of a step's rows the last that is not null, else null."""
    found: dict[tuple[str, int, str], object] = {}
    for row in sorted(rows, key=lambda r: r.row_idx):
        if row.training_step is not None:
            for metric, value in row.values.items():
                if not metric.startswith("_"):
                    key = (row.log.arm, row.training_step, metric)
                    found[key] = value if value is not None else found.get(key)
    return found


def holes(rows: list[Row]) -> set[str]:
    """Arms with a gap between kept steps wider than five median gaps of the steps that survived truncation."""
    found = set()
    for arm in {r.log.arm for r in rows}:
        of_arm = [r for r in rows if r.log.arm == arm]
        all_positions = sorted({r.position for r in of_arm if r.training_step or r.label == "seam_collapsed"})
        kept = sorted({r.position for r in of_arm if r.training_step})
        gaps = [b - a for a, b in _neighbours(all_positions)]
        if gaps and any(b - a > HOLE_GAPS * statistics.median(gaps) for a, b in _neighbours(kept)):
            found.add(arm)
    return found


def _neighbours(items: list) -> list[tuple]:
    return list(itertools.pairwise(items))
