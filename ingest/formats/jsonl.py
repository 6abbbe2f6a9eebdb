"""JSON lines read strictly, value by value: typed columns for known keys, JSON text for the rest, nothing lost."""

import json
import math
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import simdjson

from homes.landing import quarantine
from homes.schema import landing_tables

Fields = dict[str, Any]
"""A JSON object's values by key. Nested ones are simdjson proxies (or dict and list, where simdjson can't read)."""

Spec = tuple[tuple[str, str, str], ...]
"""(column, key, kind) of each known field; kind is text, integer, number, boolean, time or json."""

OBJECTS = (simdjson.Object, dict)
ARRAYS = (simdjson.Array, list)
_BATCH_BYTES = 16 << 20
_BATCH_ROWS = 20_000


def objects(path: Path) -> Iterator[tuple[int, Fields | str]]:
    """(line number from 1, its object) for each line that is not blank; a str instead says why it can't be read.

    The fields are emptied before the next line is parsed: use or copy them at once.
    """
    parser = simdjson.Parser()
    with open(path, "rb") as handle:
        for number, line in enumerate(handle, 1):
            if number == 1:
                line = line.removeprefix(b"\xef\xbb\xbf")
            line = line.strip()
            if not line:
                continue
            fields, parser = _object(line, parser)
            yield number, fields
            if isinstance(fields, dict):
                fields.clear()


def _object(line: bytes, parser: simdjson.Parser) -> tuple[Fields | str, simdjson.Parser]:
    try:
        parsed = parser.parse(line)
    except UnicodeDecodeError:
        return "not UTF-8 text", parser
    except (ValueError, RuntimeError):
        # simdjson refuses bare NaN, lone surrogates and integers beyond 64 bits; Python's parser reads them.
        parser = simdjson.Parser()
        try:
            parsed = json.loads(line)
        except (ValueError, RecursionError) as error:
            return f"not JSON ({error})", parser
    if not isinstance(parsed, OBJECTS):
        return f"not a JSON object but {kind_of(parsed)}", parser
    return dict(parsed.items()), parser


def kind_of(value: object) -> str:
    """JSON's own name for the type of a value, with integers apart from other numbers."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, str):
        return "string"
    if isinstance(value, int):
        return "integer"
    if isinstance(value, float):
        return "number"
    return "object" if isinstance(value, OBJECTS) else "array"


def json_text(value: object) -> str:
    """The value as JSON text."""
    if isinstance(value, (simdjson.Object, simdjson.Array)):
        return value.mini.decode()
    return json.dumps(value, separators=(",", ":"))


def plain(value: object) -> Any:
    """The value as Python's own dict, list or scalar."""
    if isinstance(value, simdjson.Object):
        return value.as_dict()
    return value.as_list() if isinstance(value, simdjson.Array) else value


def members(value: object) -> Fields:
    """The members of an object; none of anything else."""
    return dict(value.items()) if isinstance(value, OBJECTS) else {}


def rest_json(fields: Fields) -> str | None:
    """The fields that are left, as the text of one JSON object; null where none is left."""
    if not fields:
        return None
    return "{" + ",".join(f"{json.dumps(key)}:{json_text(value)}" for key, value in fields.items()) + "}"


def _text(value: object) -> str | None:
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", "backslashreplace").decode()
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else None


def _integer(value: object) -> int | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    if isinstance(value, float) and not value.is_integer():
        return None
    return int(value) if -(2**63) <= value < 2**63 else None


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        return float(value)
    except OverflowError:
        return None


def _boolean(value: object) -> bool | None:
    return value if isinstance(value, bool) else None


def _time(value: object) -> datetime | None:
    """UTC without a zone, of epoch seconds or an ISO 8601 text (UTC where it names no zone)."""
    try:
        if isinstance(value, str):
            read = datetime.fromisoformat(value)
            return read.astimezone(UTC).replace(tzinfo=None) if read.tzinfo else read
        seconds = _number(value)
        if seconds is None or not math.isfinite(seconds):
            return None
        return datetime.fromtimestamp(seconds, UTC).replace(tzinfo=None)
    except (ValueError, OverflowError, OSError):
        return None


CONVERT = {
    "text": _text,
    "integer": _integer,
    "number": _number,
    "boolean": _boolean,
    "time": _time,
    "json": lambda value: None if value is None else json_text(value),
}


def take(fields: Fields, spec: Spec) -> Fields:
    """The columns of `spec`, taken out of `fields`. A value of another type is null and stays among the fields."""
    row = {}
    for column, key, kind in spec:
        value = fields.get(key)
        converted = None if value is None else CONVERT[kind](value)
        row[column] = converted
        if converted is not None or value is None:
            fields.pop(key, None)
    return row


class Rows:
    """Rows of one landing table, handed on as Arrow batches of bounded size."""

    def __init__(self, table: str) -> None:
        self.table = table
        self._schema = pa.schema([f for f in landing_tables()[table].schema if f.name != "source_name"])
        self._wide = [f.name for f in self._schema if f.name.endswith(("_json", "_text"))]
        self._rows: list[Fields] = []
        self._bytes = 0

    def add(self, row: Fields) -> None:
        """One more row: a value for every column of the table but `source_name`."""
        self._rows.append(row)
        self._bytes += sum(len(row[name]) for name in self._wide if row[name] is not None)

    def full(self) -> Iterator[tuple[str, pa.RecordBatch]]:
        """The batch, where it has grown large enough to be written."""
        if self._bytes >= _BATCH_BYTES or len(self._rows) >= _BATCH_ROWS:
            yield from self.rest()

    def rest(self) -> Iterator[tuple[str, pa.RecordBatch]]:
        """What has not been handed on yet. Raises KeyError where a row lacks a column."""
        if self._rows:
            columns = {name: [row[name] for row in self._rows] for name in self._schema.names}
            batch = pa.RecordBatch.from_pydict(columns, schema=self._schema)
            self._rows, self._bytes = [], 0
            yield self.table, batch


class Observed:
    """Counts the keys and types of a family of records, for `observed_fields`."""

    def __init__(self, family: str) -> None:
        self.family = family
        self._counts: Counter[tuple[str, str]] = Counter()

    def see(self, fields: Fields, prefix: str = "") -> None:
        """Count one record's keys, named with `prefix` before them."""
        self._counts.update((prefix + key, kind_of(value)) for key, value in fields.items())

    def rest(self) -> Iterator[tuple[str, pa.RecordBatch]]:
        """One row per key and type."""
        rows = Rows("observed_fields")
        for (field, kind), count in sorted(self._counts.items()):
            rows.add({"family": self.family, "field": field, "json_type": kind, "record_count": count})
        yield from rows.rest()


def unreadable(number: int, reason: str) -> tuple[str, pa.RecordBatch]:
    """The quarantine of one line."""
    return quarantine(f"line {number}", reason)
