"""JSON lines: an object a line, its known values taken into typed columns, the rest kept as JSON text."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from ingest.formats.json_values import OBJECTS, Fields, JsonReader, json_text, kind_of
from ingest.formats.lines import text_lines
from ingest.formats.values import Unreadable, as_boolean, as_integer, as_number, as_text, as_time

Spec = tuple[tuple[str, str, str], ...]
"""(column, key, kind) of each known field; kind is one of CONVERT."""

CONVERT = {
    "text": as_text,
    "integer": as_integer,
    "number": as_number,
    "boolean": as_boolean,
    "time": as_time,
    "json": lambda value: None if value is None else json_text(value),
}


def read_objects(path: Path) -> Iterator[tuple[int, Fields | Unreadable]]:
    """(line number from 1, its object) for each line that is not blank; Unreadable says why one can't be read.

    The fields are emptied before the next line is parsed: use or copy them at once.
    """
    yield from ((number, fields) for number, fields, _ in read_objects_and_lines(path))


def read_objects_and_lines(path: Path) -> Iterator[tuple[int, Fields | Unreadable, bytes]]:
    """As `read_objects`, with the line itself, but for blanks around it."""
    reader = JsonReader()
    for line, raw in text_lines(path):
        fields, raw = (raw, b"") if isinstance(raw, Unreadable) else (_object(reader, raw), raw)
        if isinstance(fields, Unreadable) and line.is_cut:
            fields = Unreadable(f"{fields}; the file ends inside this line")
        yield line.number, fields, raw
        if isinstance(fields, dict):
            fields.clear()


def first_objects(path: Path, line_count: int = 5) -> Iterator[Fields]:
    """The objects among the first lines that are not blank, for telling what a file holds."""
    yield from (fields for _, fields in islice(read_objects(path), line_count) if isinstance(fields, dict))


def _object(reader: JsonReader, raw: bytes) -> Fields | Unreadable:
    try:
        value = reader.read(raw)
    except Unreadable as problem:
        return problem
    return dict(value.items()) if isinstance(value, OBJECTS) else Unreadable(f"not a JSON object but {kind_of(value)}")


def take_columns(fields: Fields, spec: Spec) -> Fields:
    """The columns of `spec`, taken out of `fields`. A value of another type is null and stays among the fields."""
    row = {}
    for column, key, kind in spec:
        value = fields.get(key)
        converted = None if value is None else CONVERT[kind](value)
        row[column] = converted
        if converted is not None or value is None:
            fields.pop(key, None)
    return row
