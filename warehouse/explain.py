"""`seamline explain ARM`: why this curve is this curve, read off the marts. It computes nothing that no mart holds."""

import difflib
import json
from collections.abc import Iterator
from typing import Any

from homes.console import table
from homes.errors import QueryError
from homes.paths import Home
from homes.warehouse import open_warehouse

Row = dict[str, Any]

ARM = """
select arm, variant_of, seed, position_key, headline_metric, step_count, expected_step_count, is_running, run_count,
    log_count, logged_row_count, lineage_count, chosen_lineage_step_count, longest_other_lineage_step_count,
    leaf_run_id, median_gap, tightest_kept_seam_ratio, widest_collapsed_gap_ratio, note
from arms where arm = $arm
"""
RUNS = "select run_id, run_name, evidence, seed from run_arms where arm = $arm order by started_at nulls last, run_id"
SEGMENTS = """
select segments.segment_number, segments.parent_segment_number, segments.track_number, segments.is_main_track,
    segments.run_id, segments.log_id, segments.started_at, segments.ended_at, segments.first_position,
    segments.last_position, segments.logged_step_count, segments.lineage_step_count, segments.is_leaf,
    segments.is_chosen, logs.is_unfinished, logs.exit_code
from segments inner join logs on segments.log_id = logs.log_id
where segments.arm = $arm order by segments.segment_number
"""
SEAMS = """
select segment_number, position, gap_ratio, is_same_step
from logged_steps where arm = $arm and is_main_track and is_seam order by position, segment_number
"""
DROPPED = """
select run_id, drop_reason, superseded_by_run_id, count(*) as row_count
from run_rows where arm = $arm and drop_reason is not null
group by run_id, drop_reason, superseded_by_run_id order by run_id, drop_reason, superseded_by_run_id nulls first
"""
FINDINGS = """
select severity, kind, subject, detail, remedy
from findings
where subject = $arm or subject in (select run_id from run_arms where arm = $arm)
order by case severity when 'error' then 1 when 'warn' then 2 else 3 end, kind, subject
"""
STEP = """
select training_step, position, run_id, log_id, segment_number, logged_at, gap_ratio, row_count
from arm_steps where arm = $arm and training_step = $step
"""
STEP_ROWS = """
select run_rows.run_id, run_rows.log_id, logs.source, run_rows.row_idx, run_rows.record_number,
    run_rows.segment_number, run_rows.logged_at, run_rows.position, run_rows.position_source, run_rows.training_step,
    run_rows.drop_reason, run_rows.superseded_by_run_id
from run_rows inner join logs on run_rows.log_id = logs.log_id
where run_rows.arm = $arm and (run_rows.training_step = $step or run_rows.position = $position)
order by run_rows.segment_number nulls last, run_rows.log_id, run_rows.row_idx
"""
STEP_VALUES = """
select metric, value, value_text from arm_metrics where arm = $arm and training_step = $step order by metric
"""
LOGGED_VALUES = """
select log_id, row_idx, metric, value, value_text from stg_history__values
where log_id = $log_id and row_idx between $first and $last and substr(metric, 1, 1) <> '_'
"""


def explain(home: Home, arm: str, step: int | None = None, metric: str | None = None) -> Row:
    """What made an arm's curve, ready for JSON. With `step` (a training_step, from 1) also whence that step comes.

    `arm`, `runs`, `segments` (with their parents), `seams` between two segments with their gap ratios, `dropped` rows
    by run and reason, `findings` with remedies; `step`, its `rows` (those of other launches at its position too), each
    with what it logged (of `metric` alone where one is named), and `values`, what the curve has there. Null is unknown.

    Raises QueryError for an arm, a step or a metric that is not there; the message names what is close.
    """
    with open_warehouse(home) as warehouse:

        def rows(sql: str, **given: Any) -> list[Row]:
            found = warehouse.execute(sql, {name: value for name, value in given.items() if f"${name}" in sql})
            names = [column[0] for column in found.description]
            return [dict(zip(names, row, strict=True)) for row in found.fetchall()]

        arms = rows(ARM, arm=arm)
        if not arms:
            raise QueryError(_unknown("arm", arm, [row["arm"] for row in rows("select arm from arms order by arm")]))
        told: Row = {"arm": arms[0]}
        for name, sql in {
            "runs": RUNS,
            "segments": SEGMENTS,
            "seams": SEAMS,
            "dropped": DROPPED,
            "findings": FINDINGS,
        }.items():
            told[name] = rows(sql, arm=arm)
        if step is not None:
            found = rows(STEP, arm=arm, step=step)
            if not found:
                raise QueryError(f"{arm} has no training_step {step}: its steps are 1 to {arms[0]['step_count']}")
            told["step"] = found[0]
            values = rows(STEP_VALUES, arm=arm, step=step)
            if metric is not None and metric not in {row["metric"] for row in values}:
                raise QueryError(_unknown(f"metric at step {step} of {arm}", metric, [r["metric"] for r in values]))
            told["values"] = [row for row in values if metric in (None, row["metric"])]
            told["rows"] = rows(STEP_ROWS, arm=arm, step=step, position=found[0]["position"])
            logged: dict[tuple[str, int], Row] = {}
            for log_id in dict.fromkeys(row["log_id"] for row in told["rows"]):
                at = [row["row_idx"] for row in told["rows"] if row["log_id"] == log_id]
                for value in rows(LOGGED_VALUES, log_id=log_id, first=min(at), last=max(at)):
                    if metric in (None, value["metric"]):
                        shown = value["value"] if value["value"] is not None else value["value_text"]
                        logged.setdefault((log_id, value["row_idx"]), {})[value["metric"]] = shown
            for row in told["rows"]:
                row["logged"] = logged.get((row["log_id"], row["row_idx"]), {})
        return told


def show(home: Home, arm: str, step: int | None, metric: str | None, as_json: bool) -> None:
    """Print it: for a person, or as JSON."""
    told = explain(home, arm, step, metric)
    if as_json:
        print(json.dumps(told, indent=2, default=str))
        return
    print("\n".join(_curve(told)))
    print()
    print("\n".join(_tree(told["segments"])))
    header = ("seam into segment", "position", "gap ratio", "read as")
    seams = [
        (str(s["segment_number"]), _number(s["position"]), _number(s["gap_ratio"]), _same(s["is_same_step"]))
        for s in told["seams"]
    ]
    print()
    table("seams between segments", header, seams)
    print()
    dropped = [
        (d["run_id"], d["drop_reason"], d["superseded_by_run_id"] or "", f"{d['row_count']:,}") for d in told["dropped"]
    ]
    table("rows that are not on the curve", ("run", "why", "overruled by", "rows"), dropped)
    if step is not None:
        print()
        print("\n".join(_step(told, metric)))
    print()
    for finding in told["findings"]:
        print(f"{finding['severity']}: {finding['kind']} ({finding['subject']}): {finding['detail']}")
        if finding["remedy"]:
            print(f"  to settle it: {finding['remedy']}")


def _curve(told: Row) -> Iterator[str]:
    arm = told["arm"]
    expected = f" of {arm['expected_step_count']} declared" if arm["expected_step_count"] is not None else ""
    yield f"{arm['arm']}: {arm['step_count']} steps{expected}, from {arm['run_count']} runs and {arm['log_count']} logs"
    yield f"x-axis: {arm['position_key'] or 'none was logged'}"
    for run in told["runs"]:
        yield f"run {run['run_id']}: named {run['run_name'] or 'nothing'}; its arm by {run['evidence']}"
    if arm["leaf_run_id"] is not None:
        others = arm["longest_other_lineage_step_count"]
        beaten = f"; the longest other has {others}" if others is not None else ""
        yield (
            f"lineages: {arm['lineage_count']}; the curve is the one that ends in run {arm['leaf_run_id']} "
            f"({arm['chosen_lineage_step_count']} logged steps{beaten})"
        )


def _tree(segments: list[Row]) -> Iterator[str]:
    """The segments, each below the one that it resumed from."""
    children: dict[int | None, list[Row]] = {}
    for segment in segments:
        children.setdefault(segment["parent_segment_number"], []).append(segment)
    waiting = [(segment, 0) for segment in reversed(children.get(None, []))]
    while waiting:
        segment, depth = waiting.pop()
        yield "  " * depth + _segment(segment)
        waiting += [(child, depth + 1) for child in reversed(children.get(segment["segment_number"], []))]


def _segment(segment: Row) -> str:
    began = "resumed" if segment["parent_segment_number"] is not None else "fresh start"
    exit_code = "" if segment["exit_code"] is None else f" (exit {segment['exit_code']})"
    ended = {True: "no proper end", False: f"ended{exit_code}", None: "end unknown"}[segment["is_unfinished"]]
    place = "" if segment["is_main_track"] else f", track {segment['track_number']}"
    chosen = "on the curve" if segment["is_chosen"] else "other lineage"
    return (
        f"segment {segment['segment_number']}{place}: {began}, run {segment['run_id']}, "
        f"{_number(segment['first_position'])} to {_number(segment['last_position'])}, "
        f"logged steps: {segment['logged_step_count']}, {segment['started_at'] or 'time unknown'}, {ended}: {chosen}"
    )


def _step(told: Row, metric: str | None) -> Iterator[str]:
    step = told["step"]
    yield f"training_step {step['training_step']}: position {_number(step['position'])}, run {step['run_id']}"
    if metric is not None:
        for value in told["values"]:
            shown = value["value"] if value["value"] is not None else value["value_text"]
            yield f"{metric} on the curve: {shown}"
    for row in told["rows"]:
        fate = row["drop_reason"] or "kept"
        by = f" by run {row['superseded_by_run_id']}" if row["superseded_by_run_id"] else ""
        record = f", record {row['record_number']}" if row["record_number"] is not None else ""
        yield f"{row['source']} row {row['row_idx']}{record}: position {row['position_source']}, {fate}{by}"
        shown = sorted(row["logged"].items())
        for name, logged in shown[:10]:
            yield f"  {name} = {logged}"
        if len(shown) > 10:
            yield f"  and {len(shown) - 10} more metrics (--metric NAME, or --json)"


def _same(is_same_step: bool | None) -> str:
    return {True: "one step, collapsed", False: "two steps", None: ""}[is_same_step]


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:,.6g}" if abs(value) < 1e6 else f"{value:,.0f}"


def _unknown(what: str, name: str, known: list[str]) -> str:
    close = difflib.get_close_matches(name, known, 3, 0.5) or known[:5]
    return f"no {what} is named {name!r}; there is {', '.join(close) if close else 'none'}"
