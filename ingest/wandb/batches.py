"""Batches of log records to landing rows: protobuf to Arrow at once, then the columns of `history_values`."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from google.protobuf.message import DecodeError

from homes.landing import TableBatch, quarantine
from ingest.formats.framing import Found
from ingest.history.tables import are_times, history_tables, system_table
from ingest.history.values import Columns, Leaf, columns, first_bytes
from ingest.wandb.proto import arrow_reader, message

_NEEDS_A_LOOK = np.zeros(256, dtype=bool)
_NEEDS_A_LOOK[[0, ord("{")]] = True  # no text, or a JSON object


@dataclass
class Batch:
    """Records of one type that wait to be converted together. Converting drops those that are no message."""

    found: list[Found] = field(default_factory=list)
    byte_count: int = 0
    quarantined: list[TableBatch] = field(default_factory=list)

    def add(self, record: Found) -> None:
        self.found.append(record)
        self.byte_count += len(record.payload)

    def convert(self, name: str) -> pa.RecordBatch:
        """One row a record; a record that can't be converted goes to `quarantined` and leaves `found`."""
        reader = arrow_reader(name)
        try:
            return reader.list_to_record_batch([record.payload for record in self.found])
        except Exception:  # ptars names no errors of its own
            whole, rows = [], []
            for record in self.found:
                try:
                    rows.append(reader.list_to_record_batch([record.payload]))
                    whole.append(record)
                except Exception as error:
                    reason = f"a record that is no {name} message: {error}"
                    self.quarantined.append(quarantine(f"byte {record.offset}", reason))
            self.found = whole
            if not rows:
                return reader.list_to_record_batch([])
            return pa.concat_batches(rows)


def history_batches(batch: Batch, first_row: int) -> Iterator[TableBatch]:
    """Rows of `history_rows` and `history_values`; row ordinals count from `first_row`."""
    table = batch.convert("HistoryRecord")
    found = _columns(table.column("history").field("item"), batch, "history")
    yield from history_tables(found, _record_number(table), first_row)


def system_batch(batch: Batch, first_sample: int) -> TableBatch:
    """Rows of `history_system_values`; sample ordinals count from `first_sample`."""
    table = batch.convert("StatsRecord")
    stats = table.column("stats")
    found = _columns(stats.field("item"), batch, "stats")
    stamp = stats.field("timestamp")
    seconds, nanos = (stamp.field(name).fill_null(0).to_numpy() for name in ("seconds", "nanos"))
    is_time = stamp.is_valid().to_numpy(zero_copy_only=False) & are_times(seconds)
    micros = np.where(is_time, seconds, 0) * 1_000_000 + nanos // 1000
    logged_at = pa.array(micros, mask=~is_time).cast(pa.timestamp("us"))
    return system_table(found, _record_number(table), logged_at, first_sample)


def last_summary_records(batch: Batch) -> list[Found]:
    """Those summary records of the batch that set or remove some key last, in order: the others leave no trace."""
    table = batch.convert("SummaryKeys")
    needed: set[int] = set()
    for kind in ("update", "remove"):
        items = table.column("summary").field(kind)
        rows = np.repeat(np.arange(len(items)), pc.list_value_length(items).fill_null(0).to_numpy())
        items = items.flatten()
        if len(items):
            nested = pc.binary_join(items.field("nested_key").cast(pa.list_(pa.string())), "\x1f")
            names = pc.dictionary_encode(pc.binary_join_element_wise(items.field("key"), nested, "\x1e"))
            last = np.zeros(len(names.dictionary), dtype=np.int64)
            last[names.indices.to_numpy()] = rows
            needed |= set(last.tolist())
    return [batch.found[row] for row in sorted(needed)]


def _columns(items: pa.ListArray, batch: Batch, what: str) -> Columns:
    """The items of all records of a batch, repeats and unreadable ones quarantined."""
    counts = pc.list_value_length(items).fill_null(0).to_numpy()
    rows = np.repeat(np.arange(len(counts)), counts)
    items = items.flatten()
    keys, texts = items.field("key"), items.field("value_json")
    special = _NEEDS_A_LOOK[first_bytes(texts)]
    nested = items.field("nested_key")
    depths = pc.list_value_length(nested).fill_null(0).to_numpy()
    if (depths == 1).all():
        keys = nested.flatten()
    elif depths.any():
        starts = np.cumsum(depths) - depths
        at = np.where(depths > 0, starts + len(keys), np.arange(len(keys)))
        keys = pa.concat_arrays([keys, nested.flatten()]).take(pa.array(at))
        special |= depths > 1
    if not special.any():
        found = columns(rows, keys, texts, [])
    else:
        leaves = []
        for place in np.flatnonzero(special).tolist():
            path = tuple(nested[place].as_py()) or (keys[place].as_py(),)
            leaves.append(Leaf(int(rows[place]), path, texts[place].as_py()))
        plain = pa.array(~special)
        leaves = _with_texts(leaves, batch, what)
        found = columns(rows[~special], keys.filter(plain), texts.filter(plain), leaves)
    for repeat in found.repeats:
        reason = repeat.reason(f"{what} record")
        batch.quarantined.append(quarantine(f"byte {batch.found[repeat.row].offset}", reason))
    return found


def _with_texts(leaves: list[Leaf], batch: Batch, what: str) -> list[Leaf]:
    """The leaves; those without JSON text get it from the typed value field of their item, else are quarantined."""
    found = []
    for leaf in leaves:
        text = leaf.text
        if not text and what == "history":
            items = _typed_items(batch.found[leaf.row])
            text = next((_typed_text(i) for i in items if (tuple(i.nested_key) or (i.key,)) == leaf.path), "")
        if text:
            found.append(leaf._replace(text=text))
        else:
            reason = f"key {'.'.join(leaf.path)!r} has no value"
            batch.quarantined.append(quarantine(f"byte {batch.found[leaf.row].offset}", reason))
    return found


def _typed_items(record: Found) -> Iterable:
    try:
        return message("TypedHistoryRecord").FromString(record.payload).history.item
    except DecodeError:
        return ()


def _typed_text(item) -> str:
    """JSON text of a typed value; empty where there is none."""
    kind = item.WhichOneof("value")
    if kind in (None, "json", "none"):
        return {"none": "null", "json": item.json}.get(kind, "")
    return json.dumps(getattr(item, kind))


def _record_number(table: pa.RecordBatch) -> pa.Array:
    """The records' own numbers; null where the SDK wrote none (up to 0.12)."""
    numbers = table.column("num")
    return pc.if_else(pc.greater(numbers, 0), numbers, None)
