"""The columns that each table had when a source landed: what another version landed is told by them."""

import hashlib
from collections.abc import Iterable
from functools import cache

import pyarrow.parquet as pq

from homes.paths import Home
from homes.schema import landing_tables


def layout_of(tables: Iterable[str]) -> str:
    """`<table>=<digest of its columns>` for each table, by name."""
    return " ".join(f"{name}={_digest(name)}" for name in sorted(tables))


def fits(layout: str | None) -> bool:
    """Whether every table that a source filled still has the columns that it had then. Null is an earlier version."""
    if layout is None:
        return False
    tables = [entry.partition("=") for entry in layout.split()]
    return all(name in landing_tables() and digest == _digest(name) for name, _, digest in tables)


def files_fit(home: Home, name: str) -> bool:
    """Whether every landed file of a source has the columns of its table, looking into each file."""
    for table in landing_tables().values():
        file = home.table(table.name) / f"{name}.parquet"
        if file.exists():
            found = pq.read_schema(file)
            if any(f.name not in found.names or found.field(f.name).type != f.type for f in table.schema):
                return False
    return True


@cache
def _digest(table: str) -> str:
    columns = ",".join(f"{field.name} {field.type}" for field in landing_tables()[table].schema)
    return hashlib.sha256(columns.encode()).hexdigest()[:8]
