"""A fresh home for the tests of the readers, and files to read."""

import json
from pathlib import Path

import duckdb

from homes.lock import open_home
from homes.paths import Home


class Landing:
    """A fresh home and what has landed in it."""

    def __init__(self, path: Path):
        self.path = path

    def ingest(self, ingest, path: Path, *arguments: object):
        with open_home(self.path) as opened:
            return ingest(opened, [str(path)], *arguments)

    def rows(self, sql: str, table: str) -> list[tuple]:
        folder = Home(self.path).table(table)
        return duckdb.sql(f"with landed as (from '{folder}/*.parquet') {sql}").fetchall()

    def quarantined(self) -> list[tuple]:
        return self.rows("select locator, reason from landed order by 1, 2", "quarantine")


def write(path: Path, *lines: str | bytes | dict) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    parts = [json.dumps(line) if isinstance(line, dict) else line for line in lines]
    path.write_bytes(b"\n".join(p if isinstance(p, bytes) else p.encode("utf-8", "surrogatepass") for p in parts))
    return path
