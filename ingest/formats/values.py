"""What one value is taken for: a text, a number, a truth value, a time. What can be read is decided here.

`as_<type>` gives null for a value of another type, for readers that keep such a value elsewhere. `checked_<type>` takes
what CSV writes as text too, and raises Unreadable, for readers that quarantine the row.
"""

import math
from datetime import UTC, datetime
from typing import Any

from homes.names import storable

_INT64 = 2**63


class Unreadable(ValueError):
    """What can't be read: a value, a line or a file. The message says why.

    `line` (from 1) is where in its file, and `cause` the message for who names that line already.
    """

    def __init__(self, reason: str, line: int = 1, cause: str | None = None) -> None:
        super().__init__(reason)
        self.line = line
        self.cause = cause or reason


def as_text(value: object) -> str | None:
    """A string as it is, an integer in digits; null for anything else."""
    if isinstance(value, str):
        return storable(value)
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else None


def as_name(value: object) -> str | None:
    """A string or a number as text; null for anything else, and for the empty string, which names nothing."""
    if isinstance(value, float):
        return str(int(value) if value.is_integer() else value)
    return as_text(value) or None


def as_integer(value: object) -> int | None:
    """A whole number of 64 bits, 1.0 too; null for anything else."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    if isinstance(value, float) and not value.is_integer():
        return None
    return int(value) if -_INT64 <= value < _INT64 else None


def as_number(value: object) -> float | None:
    """A number as a double; null for anything else, and for an integer beyond the doubles."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        return float(value)
    except OverflowError:
        return None


def as_boolean(value: object) -> bool | None:
    """true or false; null for anything else."""
    return value if isinstance(value, bool) else None


def as_time(value: object) -> datetime | None:
    """The moment in UTC, without a zone, of an ISO 8601 text (UTC where it names no zone) or of epoch seconds.

    Null for anything else, and for what lies outside the years 1 to 9999 in UTC.
    """
    try:
        if isinstance(value, str):
            moment = datetime.fromisoformat(value)
            return moment.astimezone(UTC).replace(tzinfo=None) if moment.tzinfo else moment
        seconds = as_number(value)
        return None if seconds is None else datetime.fromtimestamp(seconds, UTC).replace(tzinfo=None)
    except (ValueError, OverflowError, OSError):
        return None


def path_number(digits: str) -> int | None:
    """The number in the name of a file or folder; null where it has more than 64 bits."""
    return as_integer(int(digits)) if len(digits) < 20 else None


def checked_time(value: Any, what: str) -> datetime | None:
    """As `as_time`; null for null and the empty text. Raises Unreadable for anything else that is no time."""
    moment = as_time(value)
    if moment is None and value is not None and value != "":
        raise Unreadable(f"{what} {shown(value)} is not a time (ISO 8601, or seconds since 1970)")
    return moment


def checked_count(value: Any, what: str) -> int | None:
    """A whole number of 64 bits that is not negative; null for null."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < _INT64:
        raise Unreadable(f"{what} {shown(value)} is not a whole number")
    return value


def checked_number(value: Any, what: str, nan_is_null: bool = False) -> float | None:
    """A number, or its text as CSV has it; null for null and the empty text."""
    if value is None or value == "":
        return None
    try:
        if isinstance(value, bool):
            raise ValueError
        found = float(value)
    except (TypeError, ValueError, OverflowError) as error:
        raise Unreadable(f"{what} {shown(value)} is not a number") from error
    return None if nan_is_null and math.isnan(found) else found


def checked_boolean(value: Any, what: str) -> bool | None:
    """true or false, or their text in any case; null for null and the empty text."""
    if value is None or value == "":
        return None
    if isinstance(value, str) and value.lower() in ("true", "false"):
        return value.lower() == "true"
    if not isinstance(value, bool):
        raise Unreadable(f"{what} {shown(value)} is neither true nor false")
    return value


def checked_token_ids(value: Any, what: str) -> list[int] | None:
    """Token ids: a whole number or a list of them, as a list; null for null."""
    if value is None:
        return None
    ids = [checked_count(item, what) for item in (value if isinstance(value, list) else [value])]
    if None in ids:
        raise Unreadable(f"{what} holds a null")
    return [token for token in ids if token is not None]


def shown(value: object) -> str:
    """The value as a message shows it: on one line, its first 80 characters."""
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:80]}..."
