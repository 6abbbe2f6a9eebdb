"""The marts of rounds and teacher calls, compiled once, over rows that a test spells out."""

import tempfile
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path

from tests.python.support.models import Models

ROUND_MARTS = [
    "validity_windows",
    "window_comparisons",
    "reward_branches",
    "metric_reconciliation_summary",
    "system_metric_counts",
    "evaluation_verdicts",
    "scheduler_events",
    "teacher_spend_reconciliation",
    "candidate_findings",
    "run_findings",
    "decision_findings",
    "teacher_findings",
    "price_findings",
    "observed_fields",
    "teacher_totals",
    "candidate_files",
    "candidate_records",
    "saved_step_files",
    "record_sizes",
    "teacher_call_records",
]
"""What dbt compiles to have every mart of rounds and teacher calls: these, and all that they need."""
START = datetime(2026, 9, 8, 12)


@cache
def round_marts() -> Models:
    """Every mart of the two domains."""
    return Models(Path(tempfile.mkdtemp()) / "home", ROUND_MARTS)


def source(name: str, kind: str = "rounds") -> dict:
    """A landed source whose path is its name."""
    return {"source_name": name, "kind": kind, "path": f"/runs/{name}"}


def file(name: str, run: str = "run", number: int | None = None, attempt: int | None = None, minutes: int = 0) -> dict:
    """A file of candidates, written so many minutes after START."""
    at = START + timedelta(minutes=minutes)
    place = {"run_in_path": run, "round_in_path": number, "attempt_in_path": attempt}
    return {"source_name": name, "modified_at": at} | place


def candidate(file_name: str, line: int, step: int, group: str, sibling: int, **fields: object) -> dict:
    """A candidate of run `run`: not valid, outcome error, reward 0, unless `fields` say otherwise."""
    plain = {"task": "task", "chain": "0", "is_valid": False, "outcome": "error", "reward": 0.0, "is_behavior": False}
    place = {"source_name": file_name, "line_number": line, "run_id": "run", "step": step}
    return place | {"group_id": group, "sibling_index": sibling} | plain | fields


def candidates(rows: list[dict], files: list[dict] | None = None, **tables: list[dict]) -> Models:
    """The marts over these candidates. A file that is not given is a finished round."""
    known = {f["source_name"]: f for f in files or []}
    for row in rows:
        known.setdefault(row["source_name"], file(row["source_name"]))
    models = round_marts()
    sources = [source(name) for name in known] + tables.pop("landed_sources", [])
    models.run({"rounds_candidates": rows, "rounds_files": list(known.values()), "landed_sources": sources} | tables)
    return models


def call(line: int, file_name: str = "calls", **fields: object) -> dict:
    """A teacher call of run `run`, step 1, role verifier, model luna, at START, of 1,000 tokens in and 100 out."""
    plain = {"call_id": f"c{line}", "run_id": "run", "step": 1, "role": "verifier", "model": "luna"}
    plain |= {"created_at": START, "input_tokens": 1000, "output_tokens": 100}
    return {"source_name": file_name, "line_number": line} | plain | fields


PRICE = {
    "model_pattern": "luna",
    "input_usd_per_million": 10.0,
    "cached_input_usd_per_million": 1.0,
    "output_usd_per_million": 100.0,
}
"""1,000 tokens in and 100 out cost 0.02 USD."""


def calls(rows: list[dict], prices: list[dict] | None = None, **tables: list[dict]) -> Models:
    """The marts over these calls and prices (PRICE where none are given)."""
    models = round_marts()
    sources = [source(name, "teacher-calls") for name in dict.fromkeys(row["source_name"] for row in rows)]
    prices = [PRICE] if prices is None else prices
    models.run({"teacher_call_records": rows, "model_prices": prices, "landed_sources": sources} | tables)
    return models


def findings(models: Models) -> set[tuple[str, str]]:
    """(kind, subject) of every finding of the two domains."""
    parts = (
        f"select kind, subject from {d}"
        for d in ("candidate_findings", "run_findings", "decision_findings", "teacher_findings", "price_findings")
    )
    return set(models.rows(" union all ".join(parts)))
