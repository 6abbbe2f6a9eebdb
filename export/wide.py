"""Wide CSV files out of long tables: one row per step, one column per metric.

The pivot can't be a model: a file's columns are the names in its data, and one pass over the long table serves
thousands of files, where SQL's PIVOT reads it once for each file.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa

from export.tables import number_sql, quoted_sql
from homes.console import progress

_SPECIAL = re.compile(r'[",\n\r]')

BATCH_CELLS = 1_000_000
"""Cells held in memory at a time; a single file with more is held whole, its rows are spelled out in pieces."""


@dataclass(frozen=True)
class Wide:
    """The rows of one file. `leads` hold the CSV of leading cells; `rows` and `columns` place `cells` in the grid."""

    file: str
    names: list[str]
    leads: list[str]
    rows: np.ndarray
    columns: np.ndarray
    cells: np.ndarray


def wide_files(warehouse: duckdb.DuckDBPyConnection, rows_sql: str, cells_sql: str, what: str) -> Iterator[Wide]:
    """The files that two queries describe, in the order of their names, whole files at a time.

    rows_sql gives (file, row_idx from 0 without gaps, lead: the CSV of the leading cells, ...); cells_sql gives (file,
    row_idx, name, value, value_text), at most one for each (file, row_idx, name). A text stands before a number;
    without either the cell is empty.
    """
    warehouse.execute(f"create or replace temp table wide_rows as {rows_sql}")
    cell_counts = dict(warehouse.execute(f"select file, count(*) from ({cells_sql}) group by file").fetchall())
    files = [file for (file,) in warehouse.execute("select distinct file from wide_rows order by file").fetchall()]
    for batch in progress(_batches(files, cell_counts), what):
        yield from _read(warehouse, cells_sql, batch)


def _batches(files: Sequence[str], cell_counts: dict[str, int]) -> list[list[str]]:
    batches: list[list[str]] = []
    held = BATCH_CELLS
    for file in files:
        count = cell_counts.get(file, 0)
        if held + count > BATCH_CELLS:
            batches.append([])
            held = 0
        batches[-1].append(file)
        held += count
    return batches


def _read(warehouse: duckdb.DuckDBPyConnection, cells_sql: str, files: Sequence[str]) -> Iterator[Wide]:
    leads: dict[str, list[str]] = {file: [] for file in files}
    rows = "select file, lead from wide_rows where file in (select unnest(?)) order by file, row_idx"
    for file, lead in warehouse.execute(rows, [list(files)]).fetchall():
        leads[file].append(lead)
    text, number = quoted_sql("value_text"), number_sql("value")
    table = warehouse.sql(
        f"""select file, cast(row_idx as integer) as row_idx, name,
                coalesce(case when value_text is not null then {text} else {number} end, '') as cell
            from ({cells_sql}) where file in (select unnest(?))""",
        params=[list(files)],
    ).to_arrow_table()
    file_codes, file_names = _encode(table["file"])
    name_codes, names = _encode(table["name"])
    row_idx, cells = table["row_idx"].to_numpy(), table["cell"].to_numpy()
    order = np.lexsort((row_idx, file_codes))
    file_codes, name_codes, row_idx, cells = file_codes[order], name_codes[order], row_idx[order], cells[order]
    starts = np.searchsorted(file_codes, np.arange(len(file_names) + 1, dtype=file_codes.dtype)).tolist()
    bounds = {name: (starts[code], starts[code + 1]) for code, name in enumerate(file_names)}
    for file in files:
        own = slice(*bounds.get(file, (0, 0)))
        used = sorted(np.unique(name_codes[own]).tolist(), key=names.__getitem__)
        column_of = np.zeros(len(names), dtype=np.int64)
        column_of[used] = np.arange(len(used))
        columns = column_of[name_codes[own]]
        yield Wide(file, [names[c] for c in used], leads[file], row_idx[own], columns, cells[own])


def _encode(column: pa.ChunkedArray) -> tuple[np.ndarray, list[str]]:
    encoded = column.combine_chunks().dictionary_encode()
    return encoded.indices.to_numpy(), encoded.dictionary.to_pylist()


def lines(wide: Wide, columns: np.ndarray | None = None, width: int | None = None) -> Iterator[str]:
    """CSV lines of a file, without line ends. `columns` and `width` place its columns among those of a wider file."""
    width = len(wide.names) if width is None else width
    placed = wide.columns if columns is None else columns[wide.columns]
    height = max(1, BATCH_CELLS // max(1, width))
    for start in range(0, len(wide.leads), height):
        leads = wide.leads[start : start + height]
        grid = np.full((len(leads), width), "", dtype=object)
        first, last = np.searchsorted(wide.rows, np.array([start, start + len(leads)], dtype=wide.rows.dtype))
        grid[wide.rows[first:last] - start, placed[first:last]] = wide.cells[first:last]
        for lead, row in zip(leads, grid.tolist(), strict=True):
            yield ",".join([lead, *row])


def write_lines(path: Path, header: Sequence[str], body: Iterator[str]) -> None:
    """Write a CSV file: UTF-8, LF."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w", newline="", encoding="utf-8") as handle:
        handle.write(",".join(map(quote, header)) + "\n")
        handle.writelines(line + "\n" for line in body)


def quote(text: str) -> str:
    """A CSV cell: quoted where it has to be."""
    return '"' + text.replace('"', '""') + '"' if _SPECIAL.search(text) else text
