"""`seamline sql`: one read-only query of the warehouse, from a person or a script, and its answer."""

import json
import sys
from decimal import Decimal

import duckdb

from export.tables import cell, csv_text
from homes.console import table
from homes.errors import QueryError
from homes.paths import Home
from homes.warehouse import open_warehouse

SHOWN_ROWS = 200


def query(home: Home, sql: str) -> tuple[list[str], list[tuple]]:
    """Column names and rows of one query. It can read the home's warehouse and evidence, and nothing else.

    Raises QueryError where it is no single query or fails, HomeError where nothing is built.
    """
    _check(sql)
    with open_warehouse(home) as warehouse:
        # the views read landed evidence and declared facts from files; a query gets at no others
        own = [str(folder) + "/" for folder in (home.landing, home.quarantine, home.declared)]
        warehouse.execute(f"set allowed_directories = [{', '.join(map(_literal, own))}]")
        warehouse.execute("set enable_external_access = false")
        warehouse.execute("set lock_configuration = true")
        try:
            done = warehouse.execute(sql)
            return [column[0] for column in done.description], done.fetchall()
        except duckdb.Error as error:
            raise QueryError(_message(error)) from error


def _check(sql: str) -> None:
    try:
        statements = duckdb.extract_statements(sql)
    except duckdb.Error as error:
        raise QueryError(_message(error)) from error
    if len(statements) != 1:
        raise QueryError(f"{len(statements)} statements; give one query at a time")
    # a read-only connection still runs `copy ... to`
    if statements[0].type != duckdb.StatementType.SELECT:
        raise QueryError("not a query; only select (from, with, describe, summarize, show) is run: nothing is changed")


def _message(error: duckdb.Error) -> str:
    """The engine's message without its type: it holds the place and often the name that was meant."""
    kind, _, message = str(error).partition(": ")
    return message.strip() or kind


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def show(home: Home, sql: str, as_csv: bool, as_json: bool) -> None:
    """Print the answer: CSV, JSON (a list of objects), a table on a terminal, else lines of tab-separated cells."""
    names, rows = query(home, sql)
    if as_csv:
        sys.stdout.write(csv_text([names, *rows]))
    elif as_json:
        keyed = [dict(zip(names, map(_plain, row), strict=True)) for row in rows]
        print(json.dumps(keyed, indent=2, ensure_ascii=False, allow_nan=False))
    else:
        shown = rows[:SHOWN_ROWS] if sys.stdout.isatty() else rows
        table(None, names, [[_text(value) for value in row] for row in shown])
        if len(shown) < len(rows):
            print(f"... and {len(rows) - len(shown):,} more rows: --csv and --json print all")


def _text(value: object) -> str:
    return json.dumps(_plain(value), ensure_ascii=False) if isinstance(value, (list, dict)) else cell(value)


def _plain(value: object) -> object:
    """A value as JSON can hold it: NaN and infinities are text, as in exports; times are ISO 8601 in UTC."""
    if isinstance(value, float) and value - value != 0:
        return {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}[repr(value)]
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    return cell(value)
