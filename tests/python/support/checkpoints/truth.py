"""Compares a built home with the truth of a simulated sweep."""

import csv
import math
from pathlib import Path

import duckdb

_QUERIES = {
    "checkpoints_checkpoints": (
        "select model_id, cell, family, step, hour, hour_source, hour_upper_bound, driver_tokens_at_hour, role, eos_ok,"
        " eos_ok_vllm, eos_token_ids, equals_baseline,"
        # a bare folder is named by its path below what was given: the sweep, or all of the simulation
        " regexp_replace(source, '^sweep/', '') from checkpoints where cell is not null"
    ),
    "checkpoints_cells": (
        "select cell, checkpoint_count, eos_ok_count, submitted_hour, is_plotted, is_valid from cells"
    ),
    "checkpoints_scores": ("select model_id, suite, score, gain, cost_per_point, cost_status from checkpoint_scores"),
    "checkpoints_frontier": (
        "select cell, suite, model_id, score, best_score_by_hour, is_best_by_hour from frontier_scores"
    ),
    "checkpoints_companions": "select repo, cell, companion_kind, file_count, contents from companion_repos",
    "checkpoints_findings": "select kind, subject from checkpoint_findings",
}


def differences(home: Path, simulated: Path) -> list[tuple]:
    """(truth file, row found, row planted) for every row that one side lacks or tells otherwise."""
    found = []
    with duckdb.connect(str(home / "warehouse.duckdb"), read_only=True) as warehouse:
        for name, sql in _QUERIES.items():
            told = sorted(tuple(map(_text, row)) for row in warehouse.execute(sql).fetchall())
            with open(simulated / "truth" / f"{name}.csv", newline="") as handle:
                planted = sorted(map(tuple, list(csv.reader(handle))[1:]))
            if len(told) != len(planted):
                found.append((name, len(told), len(planted)))
            found += [(name, *pair) for pair in zip(told, planted, strict=False) if not all(map(_same, *pair))]
    return found


def _text(value: object) -> str:
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _same(one: str, other: str) -> bool:
    try:
        return one == other or math.isclose(float(one), float(other), rel_tol=1e-9, abs_tol=1e-6)
    except ValueError:
        return False
