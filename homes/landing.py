"""`land()`: the only writer of Parquet in landing/ and quarantine/.

A source is landed whole or not at all. Its files are written aside and synced; a `commit` note, itself renamed into
place, is the moment of landing; then the files are renamed. A process killed before the note leaves the earlier landing
as it was; one killed after it is rolled forward by the next command (`recover`).
"""

import dataclasses
import json
import os
import shutil
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from homes.errors import LandingError
from homes.layout import files_fit, fits, layout_of
from homes.names import storable
from homes.paths import Home
from homes.schema import Table, landing_tables

SOURCES = "landed_sources"
QUARANTINE = "quarantine"
EMPTY = "_empty.parquet"
ROW_GROUP_ROWS = 122_880  # what DuckDB hands to one thread
ROW_GROUP_BYTES = 16_000_000
_ENCODED = pa.dictionary(pa.int32(), pa.string())

TableBatch = tuple[str, pa.RecordBatch]
"""A landing table's name and rows for it, without `source_name`, which `land` adds."""

Batches = Iterable[TableBatch]
"""What a reader yields.

A generator may return the digest of what it read, for formats too large to be read twice.
"""


@dataclass(frozen=True)
class Source:
    """One upstream source. `name` is its landing file's stem, `path` where it was read, `digest` of its content.

    `reader_version` is that of its kind; `layout`, of a landed source, the columns that its tables had. Version 0.1
    recorded neither: null.
    """

    kind: str
    name: str
    path: str
    digest: str
    size_bytes: int
    reader_version: int | None = 1
    layout: str | None = dataclasses.field(default=None, compare=False)


def quarantine(locator: str, reason: str) -> TableBatch:
    """A record that can't be read, for a reader to yield. `locator` is `line N` or `byte N`."""
    columns = {"locator": [storable(locator)], "reason": [storable(reason)]}
    return QUARANTINE, pa.RecordBatch.from_pydict(columns)


def land(home: Home, source: Source, batches: Batches) -> dict[str, int]:
    """Write all rows of one source, replacing its earlier landing. Returns the number of rows by table.

    Raises LandingError where rows do not fit the declared columns or repeat a declared key.
    """
    aside = home.staging / source.name
    counts = write_aside(aside, source, batches)
    commit(home, aside, source, counts)
    return counts


def write_aside(aside: Path, source: Source, batches: Batches) -> dict[str, int]:
    """The first half of `land`: write the rows into `aside`, a folder in the home's staging. They have not landed, and
    the next command that opens the home forgets them, unless `commit` follows."""
    shutil.rmtree(aside, ignore_errors=True)
    aside.mkdir(parents=True)
    return _write(aside, source, batches)


def commit(home: Home, aside: Path, source: Source, counts: dict[str, int]) -> None:
    """The second half: what was written aside takes the place of the source's earlier landing."""
    (aside / "commit.new").write_text(json.dumps({"tables": sorted(counts), "name": source.name}))
    _sync(aside / "commit.new")
    (aside / "commit.new").rename(aside / "commit")
    _sync(aside)
    _roll_forward(home, aside)


def recover(home: Home) -> None:
    """Finish landings that were committed when their process was killed; forget those that were not."""
    for aside in sorted(home.staging.glob("*")):
        if (aside / "commit").exists():
            _roll_forward(home, aside)
        else:
            shutil.rmtree(aside, ignore_errors=True)


def forget(home: Home, name: str) -> None:
    """Remove a landed source, its record first, so that a kill in between leaves no record of a half landing."""
    for folder in (home.table(SOURCES), *_table_folders(home)):
        (folder / f"{name}.parquet").unlink(missing_ok=True)


def make_empty_tables(home: Home) -> None:
    """A file without rows in every landing table, so that a query of an empty home finds its columns.

    Tables of an earlier version go when nothing that has landed is left in them.
    """
    home.staging.mkdir(parents=True, exist_ok=True)
    for folder in _table_folders(home):
        if folder.name not in landing_tables() and {file.name for file in folder.iterdir()} <= {EMPTY}:
            shutil.rmtree(folder)
    for name, table in landing_tables().items():
        target = home.table(name) / EMPTY
        if target.exists() and pq.read_schema(target).equals(table.schema):
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(table.schema.empty_table(), target.with_suffix(".new"))
        target.with_suffix(".new").rename(target)


def landed(home: Home) -> dict[str, Source]:
    """Every landed source, by name."""
    columns = ["kind", "source_name", "path", "digest", "size_bytes", "reader_version", "layout"]
    # One by one: a table of many files would load pyarrow's datasets and pandas, which takes longer than this.
    tables = [pq.ParquetFile(file).read(columns) for file in sorted(home.table(SOURCES).glob("*.parquet"))]
    rows = [row for table in tables for row in table.to_pylist()]
    return {row["source_name"]: Source(*(row.get(name) for name in columns)) for row in rows}


def is_outdated(home: Home, source: Source, opens_files: bool = False) -> bool:
    """Whether a landed source has other columns than this version's tables: as it was recorded, or looking at files."""
    return not fits(source.layout) or (opens_files and not files_fit(home, source.name))


def _table_folders(home: Home) -> list[Path]:
    """The folder of every table in a home, those of an earlier version too."""
    return [home.quarantine, *sorted(path for path in home.landing.glob("[!.]*") if path.is_dir())]


def _write(aside: Path, source: Source, batches: Batches) -> dict[str, int]:
    known = landing_tables()
    files: dict[str, _TableFile] = {}
    keys: dict[str, list[pa.RecordBatch]] = {}
    counts: dict[str, int] = {}
    try:
        for name, batch in _with_record(source, batches, counts):
            table = known[name]
            batch = _conform(batch, table, source)
            if name not in files:
                files[name] = _TableFile(aside / f"{name}.parquet", table, batch.schema)
            files[name].add(batch)
            counts[name] = counts.get(name, 0) + batch.num_rows
            if table.key:
                plain = pa.schema([table.schema.field(column) for column in table.key])
                keys.setdefault(name, []).append(batch.select(list(table.key)).cast(plain))
    finally:
        for file in files.values():
            file.close()
    for name, parts in keys.items():
        _check_key(known[name], pa.Table.from_batches(parts), source)
    for file in files.values():
        _sync(file.path)
    return counts


class _TableFile:
    """One Parquet file being written: batches are gathered into row groups worth reading."""

    def __init__(self, path: Path, table: Table, schema: pa.Schema) -> None:
        self.path = path
        self._schema = schema
        texts = _repetitive(table)
        # The bounds of texts in no order help no query, and taking them costs a tenth of landing a log.
        bounded = [name for name in table.schema.names if name == "source_name" or name not in texts]
        self._writer = pq.ParquetWriter(
            path,
            schema,
            compression="zstd",
            use_dictionary=texts,
            write_statistics=bounded,
            store_schema=False,
        )
        self._pending: list[pa.RecordBatch] = []
        self._rows = self._bytes = 0

    def add(self, batch: pa.RecordBatch) -> None:
        self._pending.append(batch if batch.schema.equals(self._schema) else batch.cast(self._schema))
        self._rows += batch.num_rows
        self._bytes += batch.nbytes
        if self._rows >= ROW_GROUP_ROWS or self._bytes >= ROW_GROUP_BYTES:
            self._flush()

    def close(self) -> None:
        self._flush()
        self._writer.close()

    def _flush(self) -> None:
        if self._pending:
            rows = pa.Table.from_batches(self._pending).unify_dictionaries()
            self._writer.write_table(rows, row_group_size=self._rows)
        self._pending, self._rows, self._bytes = [], 0, 0


def _with_record(source: Source, batches: Batches, counts: dict[str, int]) -> Iterator[TableBatch]:
    """The batches, and last the source's own row in `landed_sources`."""
    digest = yield from _with_rows(batches)
    row = {
        "kind": source.kind,
        "path": storable(source.path),
        "digest": digest or source.digest,
        "size_bytes": source.size_bytes,
        "reader_version": source.reader_version,
        "layout": layout_of({SOURCES, *counts}),
        "landed_at": datetime.now(UTC).replace(tzinfo=None),
        "row_count": sum(n for t, n in counts.items() if t != QUARANTINE),
        "quarantined_count": counts.get(QUARANTINE, 0),
    }
    yield SOURCES, pa.RecordBatch.from_pylist([row])


def _with_rows(batches: Batches) -> Generator[TableBatch, None, str | None]:
    """The batches that hold rows; returns what the reader returns."""
    left = iter(batches)
    while True:
        try:
            name, batch = next(left)
        except StopIteration as end:
            return end.value
        if batch.num_rows:
            yield name, batch


def _conform(batch: pa.RecordBatch, table: Table, source: Source) -> pa.RecordBatch:
    """The batch with `source_name` and exactly the declared columns and types, in their order; texts may be
    dictionary-encoded."""
    names = set(batch.schema.names) | {"source_name"}
    wanted = set(table.schema.names)
    if names != wanted:
        raise LandingError(
            f"{source.path}: table {table.name} got columns {sorted(names ^ wanted)} unlike its declaration"
        )
    columns = []
    for field in table.schema:
        if field.name == "source_name":  # a dictionary of one, so that it need not be hashed row by row
            indices = pa.array(np.zeros(batch.num_rows, np.int32))
            columns.append(pa.DictionaryArray.from_arrays(indices, pa.array([source.name])))
            continue
        column = batch.column(field.name)
        is_same = column.type.equals(field.type) or (field.type == pa.string() and column.type == _ENCODED)
        columns.append(column if is_same else pc.cast(column, field.type))
    return pa.RecordBatch.from_arrays(columns, names=table.schema.names)


def _repetitive(table: Table) -> list[str]:
    """Columns worth a dictionary: texts that repeat, not JSON or free text."""
    return [
        f.name for f in table.schema if pa.types.is_string(f.type) and not f.name.endswith(("_json", "_text", "reason"))
    ]


def _check_key(table: Table, rows: pa.Table, source: Source) -> None:
    key = list(table.key)
    counted = rows.group_by(key, use_threads=False).aggregate([([], "count_all")])
    repeated = counted.filter(pc.greater(counted["count_all"], 1))
    if repeated.num_rows:
        first = repeated.slice(0, 1).select(key).to_pylist()[0]
        raise LandingError(f"{source.path}: table {table.name} got the key {first} more than once")


def _roll_forward(home: Home, aside: Path) -> None:
    note = json.loads((aside / "commit").read_text())
    stem, tables = note["name"], note["tables"]
    for name in tables:
        staged = aside / f"{name}.parquet"
        if staged.exists():
            home.table(name).mkdir(parents=True, exist_ok=True)
            os.replace(staged, home.table(name) / f"{stem}.parquet")
            _sync(home.table(name))
    for folder in _table_folders(home):
        if folder.name not in tables:
            (folder / f"{stem}.parquet").unlink(missing_ok=True)
    (aside / "commit").unlink()
    shutil.rmtree(aside, ignore_errors=True)


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
