"""What a home has landed, as Python rows: for tests of readers, which need no build."""

from pathlib import Path

import duckdb

from homes.lock import init
from homes.paths import Home


def fresh(path: Path) -> Home:
    """A new home, its empty landing tables made."""
    home = Home(path)
    init(home)
    return home


def rows(home: Home, sql: str) -> list[tuple]:
    """Rows of a query over the landing tables and `quarantine`."""
    with duckdb.connect() as connection:
        for table in _tables(home):
            if table in sql:
                connection.execute(f"create view {table} as from '{home.table(table)}/*.parquet'")
        return connection.execute(sql).fetchall()


def everything(home: Home, prefix: str = "history_") -> dict[str, list[tuple[str, ...]]]:
    """All landed rows by table, in one order, of the tables that start with `prefix`, the sources and the quarantine.

    When they landed is left out; NaN is like itself.
    """
    found = {}
    for table in _tables(home):
        if table.startswith((prefix, "landed_sources", "quarantine")):
            columns = "* exclude (landed_at)" if table == "landed_sources" else "*"
            found[table] = [tuple(map(repr, row)) for row in rows(home, f"select {columns} from {table} order by all")]
    return found


def _tables(home: Home) -> list[str]:
    return sorted([f.name for f in home.landing.glob("*") if f.name != ".staging"] + ["quarantine"])
