"""Small pieces that readers of JSON and CSV share: rows to batches, times, whole numbers, texts."""

import json
import math
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa

from homes.schema import landing_tables

_INT64 = 2**63


class Unreadable(ValueError):
    """A value that can't be taken for what it should be; the message says which and why."""


def batches(rows: dict[str, list[dict[str, Any]]]) -> Iterator[tuple[str, pa.RecordBatch]]:
    """The rows of each landing table as one batch with its declared types; `source_name` is left to `land`."""
    for name, found in rows.items():
        schema = landing_tables()[name].schema
        schema = schema.remove(schema.get_field_index("source_name")) if "source_name" in schema.names else schema
        if found:
            yield name, pa.RecordBatch.from_pylist(found, schema=schema)


def json_object(raw: bytes) -> dict[str, Any]:
    """The JSON object in `raw` (a byte order mark and any line ends are fine). Raises Unreadable with its line."""
    try:
        value = json.loads(raw.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise Unreadable(f"line {raw[: error.start].count(10) + 1}: not UTF-8 text") from error
    except json.JSONDecodeError as error:
        raise Unreadable(f"line {error.lineno}: {'empty file' if not raw.strip() else error.msg}") from error
    except RecursionError as error:
        raise Unreadable("line 1: nested too deeply") from error
    if not isinstance(value, dict):
        raise Unreadable("line 1: not a JSON object")
    return value


def located(where: str, problem: Unreadable) -> tuple[str, str]:
    """(locator, reason) for the quarantine of a problem in a file below a folder source."""
    line, _, reason = str(problem).partition(": ")
    return f"{line} of {where}", reason


def lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """(line number from 1, line without its end) of each line that is not blank."""
    with open(path, "rb") as handle:
        for number, line in enumerate(handle, 1):
            stripped = line.strip()
            if stripped:
                yield number, stripped


def text(value: Any) -> str | None:
    """The value as text that UTF-8 can hold; null for null, the empty text and for what is no text or number."""
    if isinstance(value, bool) or not isinstance(value, str | int | float) or value == "":
        return None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value).encode("utf-8", "replace").decode()


def time(value: Any, what: str) -> datetime | None:
    """An ISO 8601 time as UTC without a zone (one that names no zone is UTC); null for null and the empty text."""
    if value is None or value == "":
        return None
    try:
        moment = datetime.fromisoformat(value)
    except (TypeError, ValueError) as error:
        raise Unreadable(f"{what} {value!r} is not an ISO 8601 time") from error
    return moment.astimezone(UTC).replace(tzinfo=None) if moment.tzinfo else moment


def whole(value: Any, what: str) -> int | None:
    """A whole number of 64 bits that is not negative; null for null."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < _INT64:
        raise Unreadable(f"{what} {value!r} is not a whole number")
    return value


def number(value: Any, what: str, nan_is_null: bool = False) -> float | None:
    """A number, or its text as CSV has it; null for null and the empty text."""
    if value is None or value == "":
        return None
    try:
        if isinstance(value, bool):
            raise ValueError
        found = float(value)
    except (TypeError, ValueError, OverflowError) as error:
        raise Unreadable(f"{what} {value!r} is not a number") from error
    return None if nan_is_null and math.isnan(found) else found


def boolean(value: Any, what: str) -> bool | None:
    """true or false, or their text in any case; null for null and the empty text."""
    if value is None or value == "":
        return None
    if isinstance(value, str) and value.lower() in ("true", "false"):
        return value.lower() == "true"
    if not isinstance(value, bool):
        raise Unreadable(f"{what} {value!r} is neither true nor false")
    return value


def token_ids(value: Any, what: str) -> list[int] | None:
    """Token ids: a whole number or a list of them, as a list; null for null."""
    if value is None:
        return None
    return [whole(v, what) if v is not None else _no_id(what) for v in (value if isinstance(value, list) else [value])]


def _no_id(what: str) -> int:
    raise Unreadable(f"{what} holds a null")
