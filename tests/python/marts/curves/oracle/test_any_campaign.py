"""What holds of the oracle's answer for any campaign."""

import os

from hypothesis import HealthCheck, given, settings

from tests.python.support.stitch.axes import is_connecting
from tests.python.support.stitch.look import arms, evidence, positions
from tests.python.support.stitch.oracle import stitch
from tests.python.support.stitch.shapes import campaigns

FIRST = 1_700_000_000


@settings(
    max_examples=int(os.environ.get("SEAMLINE_EXAMPLES", "300")),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(campaign=campaigns())
def test_any_campaign(campaign):
    logs, declared = campaign
    for choice in ("latest", "furthest"):
        found = stitch(logs, declared, choice)
        check(logs, found)
        again = stitch(logs[::-1], declared, choice)
        assert told(found) == told(again), "the order in which logs are given decides something"


def told(found):
    """All that the SQL is compared with, in one comparable piece of text."""
    rows = {
        spot: (
            (r.arm, r.drop_reason, r.position, r.position_source, r.segment_number, r.track_number),
            (r.superseded_by_run_id, r.gap_ratio, r.training_step),
        )
        for spot, r in found.rows.items()
    }
    steps = {spot: (step.position, step.segment.number, step.gap_ratio) for spot, step in found.steps.items()}
    return repr([sorted(d.items()) for d in (rows, steps, found.values, arms(found), evidence(found))])


def check(logs, found):
    """What holds of every campaign."""
    rows = found.rows.values()
    assert len(found.rows) == sum(len(log.rows) for log in logs)
    known = {None, "duplicate_source", "excluded", "unpositioned", "other_lineage", "rolled_back", "seam_collapsed"}
    assert {r.drop_reason for r in rows} <= known
    for row in rows:
        assert (row.training_step is not None) == (row.drop_reason is None)
        assert (row.superseded_by_run_id is not None) == (row.drop_reason in ("rolled_back", "seam_collapsed"))
        is_placed = row.drop_reason not in ("duplicate_source", "excluded", "unpositioned")
        assert is_placed == (row.position is not None) == (row.segment is not None) == (row.position_source is not None)
    for arm in {r.arm for r in rows if r.segment}:
        of_arm = [r for r in rows if r.arm == arm and r.segment]
        _check_curve(arm, of_arm, found)
        _check_rolled_back(of_arm)
        _check_tracks(of_arm, found, arm)
        _check_metrics(arm, of_arm, found)


def _check_curve(arm, rows, found):
    ordinals_ = sorted(n for a, n in found.steps if a == arm)
    assert ordinals_ == list(range(1, len(ordinals_) + 1)) and ordinals_
    curve = positions(found, arm)
    assert curve == sorted(set(curve))
    assert {r.training_step for r in rows if r.training_step} == set(ordinals_)
    for ratio_arm, ratio, of_two, collapsed in found.ratios:
        assert ratio_arm != arm or not collapsed or (of_two and ratio < 0.10)


def _check_rolled_back(rows):
    """A row is rolled back by a later segment that starts at or below it; what stands has no such segment."""
    for row in rows:
        later = [s for s in row.segment.track.chosen() if s.number > row.segment_number and s.first <= row.position]
        if row.drop_reason is None or row.drop_reason == "seam_collapsed":
            assert row.segment.is_chosen and not later
        if row.drop_reason == "rolled_back":
            by = [
                s
                for s in {r.segment for r in rows if r.segment.is_chosen}
                if s.log.run_id == row.superseded_by_run_id and s.first <= row.position
            ]
            assert any(s.number > row.segment_number or s.track is not row.segment.track for s in by)
        if row.drop_reason == "other_lineage":
            assert not row.segment.is_chosen
        if row.drop_reason == "seam_collapsed":
            assert row.kind == "core"


def _check_tracks(rows, found, arm):
    """Segments of different tracks share no metric; one segment of each track is chosen at least."""
    axes = {found.position_keys[arm]} | {axis.step_metric for r in rows for axis in r.log.axes}
    owners = {}
    for row in rows:
        for metric in row.row.values:
            if is_connecting(metric, axes):
                assert owners.setdefault(metric, row.track_number) == row.track_number
    for segment in {r.segment for r in rows}:
        assert segment.track.chosen()
        core = [r.position for r in sorted(segment.core(), key=lambda r: r.row_idx)]
        assert core == sorted(core) and core
        assert segment.parent is None or segment.parent.number < segment.number
        if segment.track.number == found.main_tracks[arm]:
            stands = [r for r in segment.core() if r.drop_reason is None]
            assert len({r.training_step for r in stands}) == len({r.position for r in stands})


def _check_metrics(arm, rows, found):
    """Every metric on a kept row is on the curve; a metric is lost only with all its rows."""
    wanted = {
        (arm, r.training_step, metric)
        for r in rows
        if r.training_step
        for metric in r.row.values
        if not metric.startswith("_")
    }
    assert wanted == {key for key in found.values if key[0] == arm}
    # A log of one launch that nothing resumed loses nothing but what another lineage replaced.
    if len({r.segment for r in rows}) == 1:
        assert all(r.drop_reason is None for r in rows)
