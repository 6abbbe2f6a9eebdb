"""The tables of the report, read from the marts as they are."""

import json
from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal

import duckdb

from export.tables import Row, cell, read_rows, shown
from homes.paths import Home

FULL_TABLE_ROWS = 5_000
FIRST_ROWS = 1_000
SHOWN_ROWS = 400
"""Rows of one table in the page's text; what is more stands in the table browser or the warehouse."""

READ = {
    "arms": "arms.csv of an export",
    "runs": "",
    "segments": "",
    "logs": "",
    "metrics": "",
    "arm_steps": "by-arm/*.csv of an export",
    "arm_metrics": "by-arm/*.csv of an export",
    "run_rows": "by-run/*/*.csv of an export",
    "config_deviations": "",
    "gpu_intervals": "",
    "arm_turns": "by-arm/*_turns.csv of an export",
    "malformed_tool_calls": "",
    "turn_reconciliation": "",
    "zero_run_calibration": "",
    "rollouts": "",
    "candidates": "records/ of an export",
    "task_validity": "tables/task_validity.csv of an export",
    "reward_branches": "tables/reward_branches.csv of an export",
    "validity_windows": "tables/decision.json of an export",
    "window_comparisons": "tables/decision.json of an export",
    "evaluation_summary": "tables/evaluation_summary.csv of an export",
    "evaluation_verdicts": "",
    "training_metrics": "tables/training_metrics.csv of an export",
    "metric_reconciliation": "tables/reconciliation.json of an export",
    "saved_steps": "",
    "teacher_costs": "tables/teacher_costs.csv of an export",
    "teacher_spend_reconciliation": "",
    "teacher_calls": "records/ of an export",
    "cells": "",
    "checkpoints": "manifest.csv of an export",
    "checkpoint_scores": "tables/checkpoint_scores.csv of an export",
    "frontier_scores": "tables/checkpoint_frontier.csv of an export",
    "findings": "",
    "quarantined_records": "",
}
"""Marts that a person reads, and the files of an export that hold all their rows."""


TILES = {
    "arms": "arms",
    "runs": "runs",
    "diagnostic_runs": "diagnostic runs beside them",
    "logged_rows": "logged rows",
    "kept_rows": "of them kept",
    "rollouts": "rollouts",
    "candidates": "candidates",
    "teacher_calls": "teacher calls",
    "checkpoints": "checkpoints",
    "warnings": "warnings and errors",
    "unreadable_records": "unreadable records",
}
"""What `campaign_counts` counts, in the page's words and order."""


def value_text(value: object) -> str:
    """A mart's value as text for reading: null is empty, lists are JSON."""
    return json.dumps(value) if isinstance(value, list) else cell(value)


def _json(value: object) -> object:
    """A value as the page's JSON can hold it: NaN and infinities, times and large integers become text."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return value if abs(value) < 2**53 else str(value)
    if isinstance(value, float):
        return value if value - value == 0 else {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}[repr(value)]
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, datetime):
        return value.isoformat(sep=" ")
    if isinstance(value, date):
        return value.isoformat()
    return value_text(value)


def browser(warehouse: duckdb.DuckDBPyConnection, home: Home) -> list[dict[str, object]]:
    """Every mart of READ that holds a row: name, text, columns with type and text, rows, how many there are in all."""
    texts = _descriptions(home)
    tables = []
    for name, elsewhere in READ.items():
        [(total,)] = warehouse.execute(f"select count(*) from {name}").fetchall()
        if not total:
            continue
        keys, about, columns = texts.get(name, ([], "", {}))
        limit = total if total <= FULL_TABLE_ROWS else FIRST_ROWS
        by = ", ".join(keys) or "all"  # the keys are SQL of our own project
        done = warehouse.execute(f"select * from {name} order by {by} limit {limit}")
        described = [
            {"name": column[0], "type": str(column[1]).lower(), "about": columns.get(column[0], "")}
            for column in done.description
        ]
        rows = [[_json(value) for value in row] for row in done.fetchall()]
        rest = f'{elsewhere or "the warehouse"} (`seamline sql "select * from {name}"`)'
        tables.append(
            {"name": name, "about": about, "columns": described, "rows": rows, "total": total, "elsewhere": rest}
        )
    return tables


def _descriptions(home: Home) -> dict[str, tuple[list[str], str, dict[str, str]]]:
    """Of each mart: the columns of its grain, its text, its columns' texts, as dbt's manifest has them."""
    path = home.path / "target" / "manifest.json"
    if not path.exists():
        return {}
    nodes = json.loads(path.read_text(encoding="utf-8"))["nodes"].values()
    keys = {
        node["attached_node"]: node["test_metadata"]["kwargs"]["columns"]
        for node in nodes
        if node["resource_type"] == "test" and (node.get("test_metadata") or {}).get("name") == "unique_grain"
    }
    return {
        node["name"]: (
            keys.get(node["unique_id"], []),
            node["description"].strip(),
            {column["name"]: column["description"] for column in node["columns"].values()},
        )
        for node in nodes
        if node["resource_type"] == "model"
    }


def tiles(warehouse: duckdb.DuckDBPyConnection) -> list[tuple[str, str]]:
    """The campaign in a few numbers, each with its label; what did not land is left out."""
    counts = dict(warehouse.execute("select thing, thing_count from campaign_counts").fetchall())
    return [
        (label, f"{counts[thing]:,}")
        for thing, label in TILES.items()
        if counts[thing] or thing in ("warnings", "unreadable_records")
    ]


def arms(warehouse: duckdb.DuckDBPyConnection) -> list[dict[str, str]]:
    """The headline table."""
    last_values = dict(warehouse.execute("select arm, value from headline_steps where is_last").fetchall())
    return [
        {
            "arm": str(arm["arm"]),
            "state": _state(arm),
            "steps": shown(arm["step_count"]),
            "expected": shown(arm["expected_step_count"]),
            "runs": shown(arm["run_count"]),
            "logs": shown(arm["log_count"]),
            "metric": str(arm["headline_metric"]),
            "last_value": shown(last_values.get(arm["arm"])),
            "collapsed": shown(arm["widest_collapsed_gap_ratio"]),
            "kept": shown(arm["tightest_kept_gap_ratio"]),
            "note": " ".join(filter(None, [arm["note"], "Has a step hole." if arm["has_step_hole"] else ""])),
        }
        for arm in read_rows(warehouse, "select * from arms where not is_diagnostic order by arm")
    ]


def _state(arm: Row) -> str:
    if arm["is_running"]:
        return "running"
    return {True: "complete", False: "incomplete", None: "unknown"}[arm["is_complete"]]


def _limited(rows: Sequence[dict[str, str]]) -> dict[str, object]:
    return {"rows": rows[:SHOWN_ROWS], "total": len(rows)}


def dropped(warehouse: duckdb.DuckDBPyConnection) -> dict[str, object]:
    """Why rows were dropped, by run and reason."""
    found = read_rows(
        warehouse,
        "select * from run_drop_reasons order by arm, run_id, drop_reason, superseded_by_run_id",
    )
    rows = [
        {
            "arm": str(row["arm"]),
            "run": str(row["run_id"]),
            "reason": str(row["drop_reason"]).replace("_", " "),
            "by": str(row["superseded_by_run_id"] or "–"),
            "count": shown(row["row_count"]),
            "first": f"{row['first_position']:,.10g}" if row["first_position"] is not None else "–",
            "last": f"{row['last_position']:,.10g}" if row["last_position"] is not None else "–",
        }
        for row in found
    ]
    return _limited(rows)


def findings(warehouse: duckdb.DuckDBPyConnection) -> dict[str, object]:
    """What a person should look at, the worst first."""
    found = read_rows(
        warehouse,
        """select severity, domain, kind, subject, detail, remedy from findings
        order by case severity when 'error' then 0 when 'warn' then 1 else 2 end, domain, kind, subject""",
    )
    return _limited([{key: str(value or "") for key, value in row.items()} for row in found])


def notes(warehouse: duckdb.DuckDBPyConnection) -> list[tuple[str, str]]:
    """Caveats that a person declared: about metrics and about arms."""
    found = warehouse.execute("select metric_pattern, note from metric_notes where note is not null").fetchall()
    found += warehouse.execute("select arm, note from arms where note is not null").fetchall()
    return sorted((str(subject), str(note)) for subject, note in found)


def quarantined(warehouse: duckdb.DuckDBPyConnection) -> dict[str, object]:
    """Records that could not be read."""
    found = read_rows(warehouse, "select kind, source, locator, reason from quarantined_records order by all")
    return _limited([{key: str(value) for key, value in row.items()} for row in found])
