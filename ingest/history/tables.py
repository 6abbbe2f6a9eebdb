"""Rows of the `history_*` landing tables, whoever wrote what was read."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from homes.landing import TableBatch
from homes.names import storable
from ingest.formats.values import as_time
from ingest.history.values import Columns, plain_numpy

_EPOCH = datetime(1970, 1, 1)
_MICROSECOND = timedelta(microseconds=1)
_EARLIEST_SECONDS, _LATEST_SECONDS = -62_135_596_800.0, 253_402_300_800.0  # the years 1 and 10000


@dataclass
class LogFacts:
    """The row of a log in `history_logs`; see the table's columns."""

    producer: str
    run_id: str | None = None
    source_kind: str = "log"
    run_name: str | None = None
    entity: str | None = None
    project: str | None = None
    run_group: str | None = None
    job_type: str | None = None
    arm_in_path: str | None = None
    launch_name: str | None = None
    started_at: datetime | None = None
    writer_version: str | None = None
    float_digits: int | None = None
    state: str | None = None
    has_exit_record: bool | None = None
    exit_code: int | None = None
    record_count: int = 0
    history_row_count: int = 0
    lost_tail_bytes: int | None = 0

    def batch(self) -> TableBatch:
        """The row, for a reader to yield."""
        row = {name: storable(value) if isinstance(value, str) else value for name, value in asdict(self).items()}
        return "history_logs", pa.RecordBatch.from_pylist([row])


def history_tables(
    found: Columns, numbers: pa.Array, first_row: int, steps: pa.Array | None = None
) -> Iterator[TableBatch]:
    """`history_rows` and `history_values` of some rows with their own `numbers`; ordinals count from `first_row`.

    `steps` are the tracker's own where the rows do not hold them as `_step`.
    """
    count = len(numbers)
    rows = {
        "row_idx": pa.array(np.arange(first_row, first_row + count)),
        "record_number": numbers,
        "step": whole_numbers(found.first_of("_step", count)[0]) if steps is None else steps,
        "logged_at": logged_times(*found.first_of("_timestamp", count)),
        "runtime_seconds": found.first_of("_runtime", count)[0],
    }
    items = {
        "row_idx": pa.array(found.rows + first_row),
        "metric": found.metric,
        "key_path": found.key_path,
        "value": found.value,
        "value_text": found.value_text,
    }
    yield "history_rows", pa.RecordBatch.from_pydict(rows)
    yield "history_values", pa.RecordBatch.from_pydict(items)


def system_table(found: Columns, numbers: pa.Array, logged_at: pa.Array, first_sample: int) -> TableBatch:
    """`history_system_values` of some samples with their own `numbers` and times."""
    at = pa.array(found.rows)
    names = pc.replace_substring_regex(found.metric.dictionary, r"^system\.", "")
    items = {
        "sample_idx": pa.array(found.rows + first_sample),
        "record_number": numbers.take(at),
        "logged_at": logged_at.take(at),
        "metric": pa.DictionaryArray.from_arrays(found.metric.indices, names),
        "value": found.value,
        "value_text": found.value_text,
    }
    return "history_system_values", pa.RecordBatch.from_pydict(items)


def whole_numbers(values: pa.Array) -> pa.Array:
    """Doubles as bigint; null for what is no whole number."""
    numbers = plain_numpy(values)
    with np.errstate(invalid="ignore"):
        is_whole = (np.abs(numbers) < 2**53) & (np.floor(numbers) == numbers)
    return pa.array(np.where(is_whole, numbers, 0).astype(np.int64), mask=~is_whole)


def logged_times(seconds: pa.Array, texts: pa.Array) -> pa.Array:
    """Epoch seconds, or JSON texts of ISO 8601 times, as UTC timestamps; null for what is none."""
    numbers = plain_numpy(seconds)
    is_time = are_times(numbers)
    micros = np.rint(np.where(is_time, numbers, 0) * 1e6).astype(np.int64)
    if texts.null_count < len(texts):
        for at, text in enumerate(texts.to_pylist()):
            moment = as_time(text.strip('"')) if text and np.isnan(numbers[at]) else None
            if moment is not None:
                is_time[at], micros[at] = True, (moment - _EPOCH) // _MICROSECOND
    return pa.array(micros, mask=~is_time).cast(pa.timestamp("us"))


def are_times(seconds: np.ndarray) -> np.ndarray:
    """Whether each number of epoch seconds lies in the years 1 to 9999; false for NaN."""
    with np.errstate(invalid="ignore"):
        return (seconds >= _EARLIEST_SECONDS) & (seconds < _LATEST_SECONDS)
