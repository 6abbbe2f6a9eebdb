"""Reader of a published checkpoint index: manifest.json (a list of objects) or manifest.csv, taken as it says."""

import csv
import io
from pathlib import Path
from typing import Any

from homes.landing import Batches, quarantine
from ingest.formats.json_values import parse_json
from ingest.formats.rows import rows_to_batches
from ingest.formats.values import Unreadable, as_name, checked_boolean, checked_number, checked_token_ids, shown

_MARKS = {"model_id", "cell", "hour_source"}


def is_manifest(path: Path) -> bool:
    """Whether a .json or .csv file is a checkpoint index, by its first kilobytes."""
    if path.suffix not in (".json", ".csv"):
        return False
    with open(path, "rb") as handle:
        head = handle.read(4096).decode("utf-8-sig", "replace")
    if path.suffix == ".csv":
        return set(next(csv.reader(io.StringIO(head)), [])) >= _MARKS
    return head.lstrip().startswith(("[", "{")) and all(f'"{mark}"' in head for mark in _MARKS)


def read_manifest(path: Path) -> Batches:
    """Rows of published_checkpoints; a row with a cell that is not what its field should be is quarantined."""
    try:
        records = _records(path)
    except (UnicodeDecodeError, csv.Error, Unreadable) as error:
        yield quarantine(f"line {getattr(error, 'line', 1)}", f"can't be read: {error}")
        return
    rows = []
    for idx, (where, record) in enumerate(records, 1):
        try:
            rows.append({"row_number": idx} | _row(record))
        except Unreadable as problem:
            yield quarantine(where, str(problem))
    yield from rows_to_batches({"published_checkpoints": rows})


def _records(path: Path) -> list[tuple[str, dict[str, Any]]]:
    """(locator, fields) of each row. In JSON the locator counts rows, for lines mean nothing there."""
    if path.suffix == ".csv":
        reader = csv.DictReader(io.StringIO(path.read_text("utf-8-sig"), newline=""))
        return [(f"line {reader.line_num}", row) for row in reader]
    value = parse_json(path.read_bytes())
    if isinstance(value, dict):
        value = next((v for v in value.values() if isinstance(v, list)), None)
    if not isinstance(value, list) or not all(isinstance(row, dict) for row in value):
        raise Unreadable("not a list of objects")
    return [(f"line {idx} of the list", row) for idx, row in enumerate(value, 1)]


def _row(record: dict[str, Any]) -> dict[str, Any]:
    model_id = as_name(record.get("model_id"))
    if model_id is None:
        raise Unreadable("no model_id")
    ids = record.get("eos_token_id")
    if isinstance(ids, str):
        try:
            ids = parse_json(ids) if ids.strip() else None
        except Unreadable as error:
            raise Unreadable(f"eos_token_id {shown(ids)} is not a list of whole numbers") from error
    numbers = ("hour", "hour_upper_bound", "driver_tokens_at_hour")
    return {
        "model_id": model_id,
        "eos_token_ids": checked_token_ids(ids, "eos_token_id"),
        "eos_ok": checked_boolean(record.get("eos_ok"), "eos_ok"),
        "checkpoint_source": as_name(record.get("source")),
        **{name: as_name(record.get(name)) for name in ("cell", "driver", "effort", "hour_source", "role")},
        **{name: checked_number(record.get(name), name, nan_is_null=True) for name in numbers},
    }
