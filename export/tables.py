"""How exports read marts, and spell values in CSV and Markdown: one spelling for every domain, and the same bytes every
time."""

import csv
import io
from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import duckdb

Row = dict[str, Any]
"""A row by column. DuckDB states no types to Python; the contracts of the marts do."""

_ESCAPED = str.maketrans({c: f"\\{c}" for c in "\\`*_{}[]<>#|~"} | {"\n": " ", "\r": " ", "\t": " "})


def read_rows(warehouse: duckdb.DuckDBPyConnection, sql: str) -> list[Row]:
    """A query's rows by column."""
    found = warehouse.execute(sql)
    names = [column[0] for column in found.description]
    return [dict(zip(names, row, strict=True)) for row in found.fetchall()]


def cell(value: object) -> str:
    """The CSV text of a mart's value: null is empty, NaN is `NaN`, a whole double has no `.0`, times are UTC."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return _number(value)
    if isinstance(value, datetime):
        return value.isoformat(sep=" ")
    return str(value)


def _number(value: float) -> str:
    text = repr(value)
    if text == "nan":
        return "NaN"
    return text.removesuffix(".0") if text != "-0.0" else text


def number_sql(column: str) -> str:
    """SQL that spells a double as `cell` does: the shortest text that reads back as the same double."""
    is_whole = f"{column} = trunc({column}) and abs({column}) < 1e16 and not ({column} = 0 and signbit({column}))"
    return (
        f"case when isnan({column}) then 'NaN' when {is_whole} then cast(cast({column} as bigint) as varchar) "
        f"else cast({column} as varchar) end"
    )


def quoted_sql(column: str) -> str:
    """SQL that spells a text as a CSV cell."""
    return (
        f"""case when regexp_matches({column}, '[",\\n\\r]') """
        f"""then '"' || replace({column}, '"', '""') || '"' else {column} end"""
    )


def write_csv(path: Path, header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Write rows of mart values as CSV: UTF-8, LF, quoted only where needed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w", newline="", encoding="utf-8") as handle:
        writer = csv.writer(handle, lineterminator="\n")
        writer.writerow(header)
        writer.writerows([cell(value) for value in row] for row in rows)


def csv_text(rows: Iterable[Sequence[object]]) -> str:
    """Rows of mart values as CSV, spelled as in exports."""
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows([cell(value) for value in row] for row in rows)
    return text.getvalue()


def escape(text: object) -> str:
    """Text that Markdown shows as it is, on one line, also in a table cell."""
    return cell(text).translate(_ESCAPED).strip()


def shown(number: float | None, digits: int = 3) -> str:
    """A number for reading in a sentence or table: `digits` significant digits, thousands apart, null as a dash."""
    if number is None:
        return "–"
    return f"{number:,}" if isinstance(number, int) else f"{number:,.{digits}g}"


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table. Cells are Markdown already: escape what comes from data with `escape`."""
    lines = [f"| {' | '.join(header)} |", f"|{'---|' * len(header)}"]
    lines += [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join(lines) + "\n"
