"""Checks declared/*.csv before dbt reads them, so that a mistake is named with its file, line and column.

A column that no row must fill may be left out (it is unknown in every row), so that a home outlives a column that a
later version adds. An unknown column is a mistake: a typo in its name would be passed over.
"""

import csv
import math
from collections.abc import Callable
from datetime import UTC, date, datetime
from pathlib import Path

import pyarrow as pa

from homes.errors import DeclaredError
from homes.paths import Home
from homes.schema import Table, declared_tables


def _boolean(text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise ValueError
    return text.lower() == "true"


def _double(text: str) -> float:
    number = float(text)
    if "_" in text or not text.isascii() or not math.isfinite(number):
        raise ValueError
    return number


def _bigint(text: str) -> int:
    if "_" in text or not text.isascii() or not -(2**63) <= int(text) < 2**63:
        raise ValueError
    return int(text)


def _date(text: str) -> date:
    day = date.fromisoformat(text)
    if day.isoformat() != text:
        raise ValueError
    return day


def _timestamp(text: str) -> datetime:
    """The moment in UTC; refused where DuckDB would read another one, or none."""
    import duckdb

    moment = datetime.fromisoformat(text)
    if moment.tzinfo:
        moment = moment.astimezone(UTC).replace(tzinfo=None)
    if duckdb.execute("select try_cast(? as timestamp)", [text]).fetchall() != [(moment,)]:
        raise ValueError
    return moment


CHECKS: dict[pa.DataType, tuple[Callable[[str], object], str]] = {
    pa.float64(): (_double, "a number"),
    pa.int64(): (_bigint, "a whole number"),
    pa.bool_(): (_boolean, "true or false"),
    pa.timestamp("us"): (_timestamp, "a time such as 2026-09-22 20:14:00 (UTC)"),
    pa.date32(): (_date, "a date such as 2026-09-22"),
    pa.string(): (str, "text"),
}


def check_declared(home: Home) -> None:
    """Raise DeclaredError for the first mistake in any declared file."""
    for table in declared_tables().values():
        _check_table(home, table)
    known = set(declared_tables())
    for path in sorted(home.declared.glob("*.csv")):
        if path.stem not in known:
            raise DeclaredError(f"{path}: no such declared table; known are {', '.join(sorted(known))}")


def declared_rows(home: Home, name: str) -> list[dict[str, object]]:
    """The rows of one declared file, checked, each cell in its type; an empty cell or a missing column is None."""
    table = declared_tables()[name]
    with open(_check_table(home, table), newline="", encoding="utf-8-sig") as handle:
        return [
            dict.fromkeys(table.schema.names)
            | {k: CHECKS[table.schema.field(k).type][0](v) for k, v in row.items() if v != ""}
            for row in csv.DictReader(handle)
        ]


def _check_table(home: Home, table: Table) -> Path:
    """The table's file, found without a mistake."""
    path = home.declared / f"{table.name}.csv"
    if not path.exists():
        raise DeclaredError(f"{path}: missing; run `seamline init` to make it")
    try:
        with open(path, newline="", encoding="utf-8-sig") as handle:
            _check_file(path, csv.reader(handle, strict=True), table)
    except UnicodeDecodeError as error:
        raise DeclaredError(f"{path}: not UTF-8 text (byte {error.start}); save it as UTF-8") from error
    except csv.Error as error:
        raise DeclaredError(f"{path}: not a CSV file ({error}); quote cells that hold commas or quotes") from error
    return path


def _check_file(path, rows, table: Table) -> None:
    header = next(rows, None)
    wanted = table.schema.names
    if header is None:
        raise DeclaredError(f"{path}: empty; its first line must be {','.join(wanted)}")
    for name in header:
        if name not in wanted:
            raise DeclaredError(f"{path}, line 1: unknown column {name!r}; known are {', '.join(wanted)}")
    missing = [name for name in wanted if name not in header and name in table.required]
    if missing or len(set(header)) < len(header):
        problem = f"missing column {missing[0]!r}, which every row needs" if missing else "a column appears twice"
        raise DeclaredError(f"{path}, line 1: {problem}; the columns are {', '.join(wanted)}")
    first_lines: dict[tuple[str, ...], int] = {}
    for row in rows:
        if not row:
            continue
        if len(row) != len(header):
            raise DeclaredError(f"{path}, line {rows.line_num}: {len(row)} cells, but the header has {len(header)}")
        for name, cell in zip(header, row, strict=True):
            _check_cell(f"{path}, line {rows.line_num}, column {name!r}", name, cell, table)
        cells = dict(zip(header, row, strict=True))
        stated = [name for name in table.one_of if cells.get(name)]
        if table.one_of and len(stated) != 1:
            raise DeclaredError(
                f"{path}, line {rows.line_num}: {' and '.join(stated) or 'none of them is'} filled in; "
                f"each line states one of {', '.join(table.one_of)}"
            )
        key = tuple(cells.get(name, "") for name in table.key)
        if key and key in first_lines:
            raise DeclaredError(
                f"{path}, line {rows.line_num}: {', '.join(table.key)} {', '.join(filter(None, key))!r} stands in line "
                f"{first_lines[key]} already; keep one"
            )
        first_lines[key] = rows.line_num


def _check_cell(where: str, name: str, cell: str, table: Table) -> None:
    if cell == "":
        if name in table.required:
            raise DeclaredError(f"{where}: empty, but every row needs one")
        return
    check, expected = CHECKS[table.schema.field(name).type]
    if cell.lower() == "null":
        raise DeclaredError(f"{where}: {cell!r}; leave the cell empty where it is unknown")
    try:
        check(cell)
    except ValueError:
        raise DeclaredError(f"{where}: {cell!r} is not {expected}") from None
    if name in table.values and cell not in table.values[name]:
        raise DeclaredError(f"{where}: {cell!r}; it is one of {', '.join(table.values[name])}")
