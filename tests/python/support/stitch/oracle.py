"""The stitch in plain Python: docs/reference/judgement.md, sections A, C to F. It shares nothing with the SQL."""

import itertools
from collections import defaultdict
from dataclasses import dataclass, field

from tests.python.support.stitch.arms import RunArm, run_arms
from tests.python.support.stitch.axes import (
    REACH_GAPS,
    TRAINER_STEP_KEYS,
    Axis,
    Declared,
    Log,
    Row,
    at,
    choose_key,
    declared_axes,
    first_that_rises,
    is_connecting,
    log_order,
    median,
    nulls_last,
    rises,
    standing,
)
from tests.python.support.stitch.place import Label, Segment, place

__all__ = ["Axis", "Declared", "Log", "Row", "Stitched", "stitch"]

SEAM_RATIO = 0.10
HEADLINE_METRIC = "scores"


@dataclass(eq=False)
class Track:
    number: int
    segments: list[Segment] = field(repr=False)
    steps: list["Step"] = field(default_factory=list)

    def chosen(self) -> list[Segment]:
        return [s for s in self.segments if s.is_chosen]


@dataclass(eq=False)
class Step:
    """A kept step: its position, the positions that lie on it, the segment it is from, and its ratio."""

    position: float
    positions: set[float]
    segment: Segment
    gap_ratio: float | None = None
    training_step: int = 0


@dataclass
class Stitched:
    """`rows` by (log_id, row_idx); `steps` by (arm, training_step); `values` by (arm, training_step, metric).

    `ratios` are (arm, ratio, of two segments, collapsed) of neighbouring survivors of main tracks.
    """

    run_arms: dict[str, RunArm]
    position_keys: dict[str, str | None] = field(default_factory=dict)
    rows: dict[tuple[str, int], Label] = field(default_factory=dict)
    segments: list[Segment] = field(default_factory=list)
    main_tracks: dict[str, int] = field(default_factory=dict)
    steps: dict[tuple[str, int], Step] = field(default_factory=dict)
    values: dict[tuple[str, int, str], float | str | None] = field(default_factory=dict)
    ratios: list[tuple[str, float, bool, bool]] = field(default_factory=list)


def stitch(logs: list[Log], declared: Declared, lineage_choice: str = "latest") -> Stitched:
    """Every row of every log with its label, over all arms."""
    found = Stitched(run_arms(logs, declared))
    stands = {
        log.log_id for run_id in found.run_arms for log in standing([other for other in logs if other.run_id == run_id])
    }
    for log in logs:
        arm = found.run_arms[log.run_id]
        for row_idx, row in enumerate(log.rows):
            label = Label(log, row_idx, row, arm.arm)
            if log.log_id not in stands:
                label.drop_reason = "duplicate_source"
            elif any(_is_excluded(label, arm, line) for line in declared.exclusions):
                label.drop_reason = "excluded"
            found.rows[log.log_id, row_idx] = label
    for arm in sorted({a.arm for a in found.run_arms.values()}):
        base = min((a.variant_of for a in found.run_arms.values() if a.arm == arm and a.variant_of), default=None)
        usable = [r for r in found.rows.values() if r.arm == arm and r.drop_reason is None]
        _stitch_arm(arm, base, sorted(usable, key=lambda r: (r.log.log_id, r.row_idx)), declared, lineage_choice, found)
    return found


def _is_excluded(label: Label, run: RunArm, line: tuple) -> bool:
    run_id, arm, start, end = line
    if (run_id is None and arm is None) or run_id not in (None, label.log.run_id):
        return False
    if arm is not None and arm not in (run.arm, run.variant_of):
        return False
    if start is None and end is None:
        return True
    return label.time is not None and (start is None or start <= label.time) and (end is None or label.time < end)


def _stitch_arm(
    arm: str, base: str | None, rows: list[Label], declared: Declared, lineage_choice: str, found: Stitched
) -> None:
    declared_key = declared.position_keys.get(arm) or declared.position_keys.get(base)
    key = found.position_keys[arm] = choose_key([(r.log, r.row) for r in rows], declared_key)
    axes = {key} | declared_axes(r.log for r in rows)
    logs = [list(of_log) for _, of_log in itertools.groupby(rows, key=lambda r: r.log.log_id)]
    segments = [segment for of_log in logs for segment in place(arm, of_log, key, axes)]
    for row in rows:
        row.drop_reason = None if row.segment else "unpositioned"
    if not segments:
        return
    segments.sort(key=lambda s: (nulls_last(s.started_at), s.log.run_id, log_order(s.log), s.core()[0].row_idx))
    for number_, segment in enumerate(segments, 1):
        segment.number = number_
    found.segments += segments
    tracks = _tracks(segments, axes)
    trainer_key = _trainer_key(rows, key)
    for track in tracks:
        _find_parents(track, trainer_key)
        _choose(track, declared.leaf_run_ids.get(arm), lineage_choice)
    headline = declared.headline_metrics.get(arm, HEADLINE_METRIC)
    main = min(tracks, key=lambda t: (not _logs(t, headline), -sum(len(s.steps()) for s in t.chosen()), t.number))
    found.main_tracks[arm] = main.number
    for track in tracks:
        _roll_back(track, main)
        ratios = _collapse(track)
        if track is main:
            found.ratios += [(arm, *ratio) for ratio in ratios]
    for n, step in enumerate(main.steps, 1):
        step.training_step = n
        found.steps[arm, n] = step
    for row in rows:
        if row.segment and row.drop_reason is None:
            row.training_step = _training_step(row, main)
    _add_values(arm, rows, main, found)


def _tracks(segments: list[Segment], axes: set[str]) -> list[Track]:
    metrics = [{m for r in s.rows for m in r.row.values if is_connecting(m, axes)} or {""} for s in segments]
    groups: list[tuple[list[Segment], set[str]]] = []
    for segment, own in zip(segments, metrics, strict=True):
        linked = [g for g in groups if g[1] & own]
        groups = [g for g in groups if g not in linked]
        groups.append(([s for g in linked for s in g[0]] + [segment], own.union(*(g[1] for g in linked))))
    members = sorted((sorted(g[0], key=lambda s: s.number) for g in groups), key=lambda g: g[0].number)
    tracks = [Track(n, of_track) for n, of_track in enumerate(members, 1)]
    for track in tracks:
        for segment in track.segments:
            segment.track = track
    return tracks


def _logs(track: Track, metric: str) -> bool:
    return any(metric in r.row.values for s in track.segments for r in s.rows)


def _trainer_key(rows: list[Label], key: str | None) -> str | None:
    numbers = {k: {x for r in rows if (x := at(r.row, k)) is not None} for k in TRAINER_STEP_KEYS if k != key}
    return first_that_rises(numbers, numbers)


def _find_parents(track: Track, trainer_key: str | None) -> None:
    reach = REACH_GAPS * median([gap for s in track.segments for gap in rises(s.steps())])
    lowest_start = None
    for i, s in enumerate(track.segments):
        own_gap, counted = s.own_gap, [x for r in s.rows if (x := at(r.row, trainer_key)) is not None]
        starts_over = False
        if counted:
            is_low = counted[0] <= max(median(rises(counted)), 1)
            starts_over = is_low and (lowest_start is None or counted[0] <= lowest_start)
            lowest_start = counted[0] if lowest_start is None else min(lowest_start, counted[0])
        for q in track.segments[:i]:
            reaches = q.first < s.first and q.last >= s.first - reach
            if s.first <= own_gap:
                reaches = reaches and q.own_gap == own_gap and q.first <= s.first - own_gap
            if reaches and not starts_over:
                s.parent = q


def _choose(track: Track, leaf_run_id: str | None, lineage_choice: str) -> None:
    ends = [s for s in track.segments if s.log.run_id == leaf_run_id]
    leaves = [s for s in track.segments if not any(t.parent is s for t in track.segments)]
    if ends:
        end = ends[-1]
    elif lineage_choice == "furthest":
        end = max(leaves, key=lambda s: (s.path_length(), s.number))
    else:
        end = track.segments[-1]
    for segment in end.path():
        segment.is_chosen = True


def _roll_back(track: Track, main: Track) -> None:
    spots = defaultdict(list)
    for s in track.segments:
        for row in s.rows:
            spots[s.number, row.position].append(row)
    for (_, position), rows in spots.items():
        s = rows[0].segment
        if not s.is_chosen:
            reason, by = "other_lineage", None
        else:
            later = [t for t in track.chosen() if t.number > s.number and t.first <= position]
            if track is not main:
                later += [t for t in main.chosen() if t.first <= position and _took_over(t, s, rows, main)]
            if not later:
                continue
            reason, by = "rolled_back", min(later, key=lambda t: t.number).log.run_id
        for row in rows:
            row.drop_reason, row.superseded_by_run_id = reason, by


def _took_over(t: Segment, s: Segment, rows: list[Label], main: Track) -> bool:
    """Whether main segment `t` rolled back the run of `s`, after this spot of `s` was logged."""
    lost = any(m.log.run_id == s.log.run_id and m.number < t.number and m.last >= t.first for m in main.chosen())
    times = [r.time for r in rows if r.time is not None]
    is_before = s.number < t.number if not times or t.started_at is None else min(times) < t.started_at
    return lost and is_before


def _collapse(track: Track) -> list[tuple[float, bool, bool]]:
    """Find the kept steps of a track; returns (ratio, of two segments, collapsed) of neighbouring survivors."""
    by_step = defaultdict(list)
    for row in (r for s in track.chosen() for r in s.core() if r.drop_reason is None):
        by_step[row.position, row.segment_number].append(row)
    survivors = [(position, by_step[position, n]) for position, n in sorted(by_step)]
    gaps = [b - a for (a, _), (b, _) in itertools.pairwise(survivors)]
    middle, ratios, groups = median(gaps), [], [survivors[:1]] if survivors else []
    for gap, before, survivor in zip(gaps, survivors, survivors[1:], strict=False):
        ratio = gap / middle
        of_two = before[1][0].segment is not survivor[1][0].segment
        is_same = of_two and ratio < SEAM_RATIO
        for row in survivor[1]:
            row.gap_ratio = ratio
        ratios.append((ratio, of_two, is_same))
        if is_same:
            groups[-1].append(survivor)
        else:
            groups.append([survivor])
    for group in groups:
        position, stand = max(group, key=lambda g: (g[1][0].segment_number, g[0]))
        track.steps.append(Step(position, {p for p, _ in group}, stand[0].segment, stand[0].gap_ratio))
        for row in (r for p, rows in group if rows is not stand for r in rows):
            row.drop_reason, row.superseded_by_run_id = "seam_collapsed", stand[0].log.run_id
    taken = {position for position, _ in survivors}
    extra: dict[float, Segment] = {}
    for row in (r for s in track.chosen() for r in s.rows if r.kind == "extra" and r.drop_reason is None):
        if row.position not in taken:
            extra[row.position] = row.segment
    track.steps += [Step(position, {position}, segment) for position, segment in extra.items()]
    track.steps.sort(key=lambda step: step.position)
    return ratios


def _training_step(row: Label, main: Track) -> int:
    if row.segment.track is main:
        return next(step.training_step for step in main.steps if row.position in step.positions)
    return max((s.training_step for s in main.steps if s.position <= row.position), default=1)


def _add_values(arm: str, rows: list[Label], main: Track, found: Stitched) -> None:
    kept = [r for r in rows if r.training_step]
    kept.sort(key=lambda r: (r.segment.track is main, r.segment_number, r.position, r.row_idx))
    for row in kept:
        for metric, value in row.row.values.items():
            if not metric.startswith("_"):
                spot = (arm, row.training_step, metric)
                found.values[spot] = found.values.get(spot) if value is None else value
