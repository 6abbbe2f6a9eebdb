"""Rows on their way to landing tables: gathered, typed as the table declares, handed on in batches."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from homes.landing import Batches, TableBatch, quarantine
from homes.names import storable
from homes.schema import landing_tables
from ingest.formats.json_values import Fields, kind_of

_BATCH_BYTES = 16 << 20
_BATCH_ROWS = 20_000


class Rows:
    """Rows of one landing table, handed on as Arrow batches of bounded size."""

    def __init__(self, table: str) -> None:
        self.table = table
        self._schema = row_schema(table)
        self._wide = [f.name for f in self._schema if f.name.endswith(("_json", "_text"))]
        self._rows: list[Fields] = []
        self._bytes = 0

    def add(self, row: Fields) -> None:
        """One more row: a value for every column of the table but `source_name`."""
        self._rows.append(row)
        self._bytes += sum(len(row[name]) for name in self._wide if row[name] is not None)

    def full_batches(self) -> Iterator[TableBatch]:
        """The batch, where it has grown large enough to be written."""
        if self._bytes >= _BATCH_BYTES or len(self._rows) >= _BATCH_ROWS:
            yield from self.last_batches()

    def last_batches(self) -> Iterator[TableBatch]:
        """What has not been handed on yet. Raises KeyError where a row lacks a column."""
        if self._rows:
            columns = {name: [row[name] for row in self._rows] for name in self._schema.names}
            batch = _batch(columns, self._schema)
            self._rows, self._bytes = [], 0
            yield self.table, batch


class FieldCounts:
    """Counts the keys and types of a family of records, for `observed_fields`."""

    def __init__(self, family: str) -> None:
        self.family = family
        self._counts: Counter[tuple[str, str]] = Counter()

    def add(self, fields: Fields, prefix: str = "") -> None:
        """Count one record's keys, named with `prefix` before them."""
        self._counts.update((prefix + key, kind_of(value)) for key, value in fields.items())

    def batches(self) -> Iterator[TableBatch]:
        """One row per key and type."""
        counts: Counter[tuple[str, str]] = Counter()
        for (field, kind), count in self._counts.items():
            counts[storable(field), kind] += count
        rows = Rows("observed_fields")
        for (field, kind), count in sorted(counts.items()):
            rows.add({"family": self.family, "field": field, "json_type": kind, "record_count": count})
        yield from rows.last_batches()


def row_schema(table: str) -> pa.Schema:
    """The columns of a landing table that a reader fills: all but `source_name`, which `land` adds."""
    return pa.schema([field for field in landing_tables()[table].schema if field.name != "source_name"])


def rows_to_batches(rows: dict[str, list[dict[str, Any]]]) -> Batches:
    """The rows of each landing table as one batch; a column that a row lacks is null."""
    for name, found in rows.items():
        schema = row_schema(name)
        if found:
            yield name, _batch({column: [row.get(column) for row in found] for column in schema.names}, schema)


def quarantine_line(number: int, reason: object) -> TableBatch:
    """The quarantine of one line (from 1), for a reader to yield."""
    return quarantine(f"line {number}", str(reason))


def _batch(columns: dict[str, list[Any]], schema: pa.Schema) -> pa.RecordBatch:
    try:
        return pa.RecordBatch.from_pydict(columns, schema=schema)
    except UnicodeEncodeError:  # half a surrogate pair, of a JSON text or of a file's name that is no UTF-8
        clean = {name: [storable(v) if isinstance(v, str) else v for v in values] for name, values in columns.items()}
        return pa.RecordBatch.from_pydict(clean, schema=schema)
