"""Lands history that a test spells out row by row, without a reader in between."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path

import pyarrow as pa

from homes.landing import Source, land, quarantine
from homes.lock import open_home
from homes.paths import Home

START = datetime(2026, 9, 1)


class Text(str):
    """JSON text of a value that is no number."""


def land_run(
    home: Path,
    run_id: str | None,
    rows: Sequence[Mapping[str | tuple[str, ...], object]],
    arm: str | None = None,
    hour: int = 0,
    log_id: str | None = None,
    name: str | None = None,
    unreadable: Sequence[tuple[str, str]] = (),
    lost_tail_bytes: int = 0,
    config: Mapping[str, str] | None = None,
) -> None:
    """Land one log that starts `hour` hours after START, a row every minute. A value is a float, None or Text.

    A key that is a tuple is the path of a nested one.
    """
    log_id = log_id or f"{hashlib.sha256(str(run_id).encode()).hexdigest()[:8]}-log"
    started = START + timedelta(hours=hour)
    log = {
        "producer": "wandb",
        "run_id": run_id,
        "source_kind": "log",
        "run_name": name,
        "arm_in_path": arm,
        "started_at": started,
        "has_exit_record": not lost_tail_bytes,
        "record_count": len(rows),
        "history_row_count": len(rows),
        "lost_tail_bytes": lost_tail_bytes,
    }
    history = [
        {
            "row_idx": idx,
            "metric": key if isinstance(key, str) else ".".join(key),
            "key_path": None if isinstance(key, str) else json.dumps(key, separators=(",", ":")),
            # a whole number too large for a double keeps its text beside it
            "value": float(value) if isinstance(value, float) or str(value).isdigit() else None,
            "value_text": str(value) if isinstance(value, Text) else None,
        }
        for idx, row in enumerate(rows)
        for key, value in row.items()
    ]
    tables = {
        "history_logs": [log],
        "history_config": [{"config_key": key, "value_json": value} for key, value in (config or {}).items()],
        "history_rows": [
            {
                "row_idx": idx,
                "record_number": idx + 1,
                "step": None,
                "logged_at": started + timedelta(minutes=idx),
                "runtime_seconds": None,
            }
            for idx in range(len(rows))
        ],
        "history_values": history,
    }
    batches = [(table, _batch(table, part)) for table, part in tables.items() if part]
    batches += [quarantine(locator, reason) for locator, reason in unreadable]
    with open_home(home) as opened:
        land(opened, Source("wandb", log_id, f"/runs/{log_id}.wandb", "digest", 1000), batches)


def _batch(table: str, rows: list[dict[str, object]]) -> pa.RecordBatch:
    from homes.schema import landing_tables

    schema = landing_tables()[table].schema
    # columns that a row leaves out are null
    return pa.RecordBatch.from_pylist(rows, pa.schema([f for f in schema if f.name != "source_name"]))


def declare(home: Path, table: str, lines: str) -> None:
    """Append lines to a declared file of the home."""
    with open_home(home) as opened, open(Home(opened.path).declared / f"{table}.csv", "a") as handle:
        handle.write(lines)
