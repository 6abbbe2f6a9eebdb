"""Compares the tables of two engines, whatever the order of their rows."""

import math
from collections import Counter
from pathlib import Path

import duckdb
import pyarrow.parquet as pq

from homes.landing import SOURCES

RELATIVE = 1e-9
ABSOLUTE = 1e-12
"""A sum of doubles depends on the order of its terms: what may differ between engines, and near zero."""


def landed_files(home: Path) -> dict[str, object]:
    """Every landed file's bytes; of the records of landings, which tell the time, the rows without it."""
    files = [*(home / "landing").glob("[!.]*/*.parquet"), *(home / "quarantine").glob("*.parquet")]
    return {
        str(file.relative_to(home)): (
            pq.read_table(file).drop_columns("landed_at").to_pylist()
            if file.parent.name == SOURCES
            else file.read_bytes()
        )
        for file in files
    }


def mart_names(warehouse: duckdb.DuckDBPyConnection) -> list[str]:
    """The marts that a DuckDB warehouse holds, those among them that are views only there."""
    found = warehouse.execute("select table_name from information_schema.tables where table_schema = 'main'").fetchall()
    return [name for (name,) in found if not name.startswith("stg_")]


def differences(warehouse: duckdb.DuckDBPyConnection, table: str, folder: Path) -> list[str]:
    """What differs between a table of the DuckDB warehouse and a Spark table's Parquet folder; empty where equal.

    Names, types and every cell but doubles must be the same; doubles within RELATIVE or ABSOLUTE, NaN equal to NaN.
    """
    spark_table = f"read_parquet('{folder}/*.parquet')"
    columns = warehouse.execute(f'describe main."{table}"').fetchall()
    spark_columns = warehouse.execute(f"describe select * from {spark_table}").fetchall()
    if [c[:2] for c in columns] != [c[:2] for c in spark_columns]:
        return [f"columns {[c[:2] for c in columns]} and {[c[:2] for c in spark_columns]}"]
    doubles = [i for i, column in enumerate(columns) if column[1] == "DOUBLE"]
    exact = [i for i in range(len(columns)) if i not in doubles]
    mine, theirs = (
        [tuple(map(_hashable, row)) for row in warehouse.execute(f"select * from {relation}").fetchall()]
        for relation in (f'main."{table}"', spark_table)
    )
    mine_exact, theirs_exact = (Counter(tuple(row[i] for i in exact) for row in rows) for rows in (mine, theirs))
    if mine_exact != theirs_exact:
        only_mine, only_theirs = list(mine_exact - theirs_exact)[:3], list(theirs_exact - mine_exact)[:3]
        return [f"only DuckDB has {only_mine}, only Spark {only_theirs}"]

    def order(row: tuple) -> tuple:
        return ([repr(row[i]) for i in exact], [_rank(row[i]) for i in doubles])

    return [
        f"{columns[i][0]}: {left[i]} and {right[i]} in {left}"
        for left, right in zip(sorted(mine, key=order), sorted(theirs, key=order), strict=True)
        for i in doubles
        if not _close(left[i], right[i])
    ]


def _hashable(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value


def _rank(value: float | None) -> tuple:
    """Nulls, then numbers to six digits (so that the last digits do not order rows), then NaN."""
    if value is None:
        return (0, 0.0)
    return (2, 0.0) if math.isnan(value) else (1, float(f"{value:.6g}"))


def _close(left: float | None, right: float | None) -> bool:
    if left is None or right is None:
        return left is right
    if math.isnan(left) or math.isnan(right):
        return math.isnan(left) and math.isnan(right)
    return math.isclose(left, right, rel_tol=RELATIVE, abs_tol=ABSOLUTE)
