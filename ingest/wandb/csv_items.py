"""CSV exports of W&B as logged items. Every cell is text first.

An empty cell is absent. A quoted empty one is the text '', but absent too in a file that quotes every cell.
"""

import csv
import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv

from homes.landing import TableBatch, quarantine
from ingest.formats.json_values import parse_json
from ingest.formats.values import Unreadable
from ingest.history.values import Leaf, first_bytes, looks_like_number

_BLOCK_BYTES = 8 << 20
_JSON_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_NAMED_NUMBERS = {
    "nan": "NaN",
    "inf": "Infinity",
    "+inf": "Infinity",
    "infinity": "Infinity",
    "+infinity": "Infinity",
    "-inf": "-Infinity",
    "-infinity": "-Infinity",
    '"nan"': "NaN",
    '"infinity"': "Infinity",
    '"-infinity"': "-Infinity",
    "true": "true",
    "false": "false",
    "null": "null",
}


@dataclass
class Items:
    """Logged items of some rows of an export, ready for `history.values.columns`.

    `numbers` holds each row's own number in its file (from 1, a CSV's header counted); `rows` index into it.
    """

    numbers: np.ndarray
    rows: np.ndarray
    keys: pa.Array
    texts: pa.Array
    special: list[Leaf]


@dataclass
class Block:
    """Some rows of a CSV file: their numbers, and the cells by column, in bytes; null where empty."""

    numbers: np.ndarray
    cells: list[pa.Array]


def read_header(path: Path) -> tuple[list[str], int]:
    """The column names of a CSV file, and how many lines they take. Names are empty where the file is."""
    with open(path, encoding="utf-8-sig", errors="backslashreplace", newline="") as handle:
        reader = csv.reader(iter(lambda: handle.readline(1 << 24), ""))
        try:
            return next(reader, []), max(reader.line_num, 1)
        except csv.Error:
            return [], 1


def looks_like_a_header(names: list[str]) -> bool:
    """Whether some column is named by more than a number: a row of data is not a header."""
    return any(name.strip() and cell_json(name)[:1] == '"' for name in names)


def faulty_columns(names: list[str]) -> dict[int, str]:
    """The columns that can't land, and why: those without a name, and all but the last of one name."""
    last = {name: at for at, name in enumerate(names)}
    counts = Counter(names)
    faults = {at: f"column {at + 1} has no name" for at, name in enumerate(names) if not name.strip()}
    for at, name in enumerate(names):
        if at not in faults and last[name] != at:
            reason = f"column {at + 1}: {name!r} names {counts[name]} columns"
            faults[at] = f"{reason}, of which the last, column {last[name] + 1}, landed"
    return faults


def read_blocks(path: Path, width: int, header_lines: int) -> Iterator[Block | TableBatch]:
    """The rows below the header. A row with another number of cells than the header is quarantined."""
    torn: list[tuple[int, str]] = []

    def skip_row(row: pa_csv.InvalidRow) -> str:
        reason = f"{row.actual_columns} cells where the header has {row.expected_columns}"
        torn.append((row.number, reason))
        return "skip"

    names = [str(at) for at in range(width)]
    number = header_lines
    try:
        stream = pa_csv.open_csv(
            path,
            pa_csv.ReadOptions(
                column_names=names, skip_rows=header_lines, use_threads=False, block_size=_block_size(path)
            ),
            pa_csv.ParseOptions(newlines_in_values=True, invalid_row_handler=skip_row),
            pa_csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.binary()),
                strings_can_be_null=True,
                quoted_strings_can_be_null=_quotes_all(path),
                null_values=[""],
            ),
        )
        for batch in stream:
            skipped = {at for at, _ in torn if at > number}
            numbers = np.arange(number + 1, number + 1 + batch.num_rows + len(skipped))
            numbers = numbers[~np.isin(numbers, list(skipped))] if skipped else numbers
            numbers = numbers[: batch.num_rows]
            if len(numbers):
                number = int(numbers[-1])
            yield Block(numbers, batch.columns)
    except pa.ArrowInvalid as error:
        yield quarantine(f"line {number + 1}", f"can't be read as CSV from here on: {error}")
    for at, reason in torn:
        yield quarantine(f"line {at}", reason)


def _quotes_all(path: Path) -> bool:
    """Whether a file quotes every cell, as W&B's own exports do: then a quoted empty cell says nothing."""
    with open(path, "rb") as handle:
        start = handle.readline(1 << 16).lstrip(b"\xef\xbb\xbf")
    return start.startswith(b'"') and (b'","' in start or b"," not in start)


def _block_size(path: Path) -> int:
    """Blocks that hold the longest line: Arrow can't read a row that is longer than one."""
    longest = length = 0
    with open(path, "rb") as handle:
        while chunk := handle.read(1 << 20):
            pieces = chunk.split(b"\n")
            longest = max(longest, length + len(pieces[0]), *map(len, pieces[1:]))
            length = len(pieces[-1]) if len(pieces) > 1 else length + len(chunk)
    return max(_BLOCK_BYTES, min(8 * longest, 1 << 30))


def block_items(block: Block, columns: dict[int, str]) -> tuple[Items, list[TableBatch]]:
    """The cells of `columns` (place: key) that are not empty, by row, and the quarantine of those that are no UTF-8."""
    rows, texts, codes, faults = [], [], [], []
    for code, at in enumerate(columns):
        cells = block.cells[at]
        if cells.null_count == len(cells):
            continue
        where = np.flatnonzero(cells.is_valid().to_numpy(zero_copy_only=False))
        cells = cells.drop_null()
        try:
            found = cells.cast(pa.string())
        except pa.ArrowInvalid:
            found, where, bad = _utf8_only(cells.to_pylist(), where)
            reason = f"column {columns[at]!r} is no UTF-8 text"
            faults += [quarantine(f"line {block.numbers[row]}", reason) for row in bad]
        rows.append(where)
        texts.append(json_texts(found))
        codes.append(np.full(len(where), code, np.int32))
    names = pa.array(list(columns.values()), pa.string())
    if not rows:
        nothing = pa.array([], pa.string())
        return Items(block.numbers, np.zeros(0, np.int64), nothing, nothing, []), faults
    row = np.concatenate(rows)
    order = np.argsort(row, kind="stable")
    keys = names.take(pa.array(np.concatenate(codes)[order]))
    text = pa.concat_arrays(texts).take(pa.array(order))
    row = row[order]
    is_object = first_bytes(text) == ord("{")
    special = []
    if is_object.any():
        places = np.flatnonzero(is_object).tolist()
        special = [Leaf(int(row[at]), (keys[at].as_py(),), text[at].as_py()) for at in places]
        plain = pa.array(~is_object)
        row, keys, text = row[~is_object], keys.filter(plain), text.filter(plain)
    return Items(block.numbers, row, keys, text, special), faults


def _utf8_only(cells: list[bytes], where: np.ndarray) -> tuple[pa.Array, np.ndarray, list[int]]:
    texts, kept, bad = [], [], []
    for cell, row in zip(cells, where.tolist(), strict=True):
        try:
            texts.append(cell.decode())
            kept.append(row)
        except UnicodeDecodeError:
            bad.append(row)
    return pa.array(texts, pa.string()), np.array(kept, dtype=np.int64), bad


def json_texts(cells: pa.Array) -> pa.Array:
    """The cells as JSON texts; numbers stay as they are written."""
    if looks_like_number(cells).all():
        try:
            pc.cast(cells, pa.float64())
            return cells
        except pa.ArrowInvalid:
            pass
    encoded = pc.dictionary_encode(cells)
    return pa.array([cell_json(text) for text in encoded.dictionary.to_pylist()], pa.string()).take(encoded.indices)


def cell_json(cell: str) -> str:
    """JSON text of one cell: a number, NaN or infinity, true or false, JSON text, else a string."""
    text = cell.strip()
    named = _NAMED_NUMBERS.get(text.lower())
    if named:
        return named
    if text[:1] in ("{", "[", '"'):
        try:
            parse_json(text)
            return text
        except Unreadable:
            return json.dumps(cell)
    try:
        number = float(text) if "_" not in text else None
    except ValueError:
        number = None
    if number is None:
        return json.dumps(cell)
    return text if _JSON_NUMBER.fullmatch(text) else repr(number)
