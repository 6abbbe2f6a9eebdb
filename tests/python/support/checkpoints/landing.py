"""Files of a sweep with their times, and what landed of them."""

import json
import os
from datetime import UTC, datetime
from pathlib import Path

import duckdb

START = datetime(2026, 8, 3, 6, tzinfo=UTC)


def landed(home: Path, table: str, columns: str) -> list[tuple]:
    where = "quarantine" if table == "quarantine" else f"landing/{table}"
    return duckdb.sql(f"select {columns} from '{home}/{where}/*.parquet' order by all").fetchall()


def write(path: Path, content: str | bytes | dict, hour: float | None = None) -> Path:
    """A file, with its time `hour` hours after START."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(content, dict):
        content = json.dumps(content)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    if hour is not None:
        os.utime(path, (START.timestamp() + 3600 * hour,) * 2)
    return path
