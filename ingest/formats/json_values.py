"""The one reader of JSON: by simdjson where it can, by Python's json where simdjson refuses. Nothing else raises than
Unreadable, and what is read equals what Python's json gives for the same bytes."""

import json
from typing import Any

import simdjson

from ingest.formats.values import Unreadable

Fields = dict[str, Any]
"""A JSON object's values by key. Nested ones are simdjson proxies (or dict and list, where simdjson can't read)."""

OBJECTS = (simdjson.Object, dict)
ARRAYS = (simdjson.Array, list)
DEEPEST = 512
"""Levels of nesting that a Python value may have: what walks over it, or writes it again, stays below the recursion
limit (1,000 in Python; simdjson's own is 1,024, its values are walked by nobody)."""


class JsonReader:
    """Reads one JSON text after the other with the buffers of one parser."""

    def __init__(self) -> None:
        self._parser = simdjson.Parser()

    def read(self, raw: bytes | memoryview) -> Any:
        """The value; nested ones are simdjson proxies, which must be gone before the next text is read.

        simdjson refuses bare NaN, infinities, half surrogate pairs and integers beyond 64 bits: such a text is read by
        Python's json. Raises Unreadable for what that refuses too.
        """
        try:
            return self._parser.parse(raw)
        except (ValueError, RuntimeError):
            self._parser = simdjson.Parser()
            return _read_slowly(bytes(raw))


def parse_json(raw: bytes | str) -> Any:
    """The value, as Python's own dicts, lists and scalars. Raises Unreadable, with the line of the fault."""
    raw = raw.encode("utf-8", "surrogatepass") if isinstance(raw, str) else raw
    try:
        value = simdjson.Parser().parse(raw, recursive=True)
    except (ValueError, RuntimeError):
        return _read_slowly(raw)
    refuse_too_deep(value, raw.count(b"[") + raw.count(b"{"))
    return value


def json_object(raw: bytes) -> dict[str, Any]:
    """As `parse_json`, of a text that holds an object (a byte order mark and any line ends are fine)."""
    value = parse_json(raw)
    if not isinstance(value, dict):
        raise Unreadable(f"not a JSON object but {kind_of(value)}")
    return value


def _read_slowly(raw: bytes) -> Any:
    try:
        value = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise _unreadable(raw, error) from error
    refuse_too_deep(value, raw.count(b"[") + raw.count(b"{"))
    return value


def _unreadable(raw: bytes, error: Exception) -> Unreadable:
    if not raw.strip(b"\0 \t\r\n"):
        return Unreadable("filled with NUL bytes") if raw.strip() else Unreadable("empty, not JSON", cause="empty file")
    if isinstance(error, UnicodeDecodeError):
        return Unreadable("not UTF-8 text", raw[: error.start].count(b"\n") + 1)
    if isinstance(error, json.JSONDecodeError):
        return Unreadable(f"not JSON ({error})", error.lineno, error.msg)
    # an integer of more digits than Python converts
    reason = "nested too deeply" if isinstance(error, RecursionError) else str(error)
    return Unreadable(f"not JSON that can be read ({reason})", cause=reason)


def refuse_too_deep(value: object, bracket_count: int) -> None:
    """Raise Unreadable where Python's lists and dicts are nested deeper than DEEPEST; looked at only where the text has
    so many opening brackets."""
    if bracket_count <= DEEPEST:
        return
    level, depth = [value], 0
    while level := [v for v in level if isinstance(v, (dict, list))]:
        depth += 1
        if depth > DEEPEST:
            raise Unreadable("not JSON that can be read (nested too deeply)", cause="nested too deeply")
        level = [child for v in level for child in (v.values() if isinstance(v, dict) else v)]


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
        return value.mini.decode()  # type: ignore[attr-defined] # its stubs say str, it is bytes
    return json.dumps(value, separators=(",", ":"))


def object_items(value: object) -> Fields:
    """The values of an object by key; none of anything else."""
    return dict(value.items()) if isinstance(value, OBJECTS) else {}


def other_json(fields: Fields) -> str | None:
    """The fields that are left, as the text of one JSON object; null where none is left."""
    if not fields:
        return None
    return "{" + ",".join(f"{json.dumps(key)}:{json_text(value)}" for key, value in fields.items()) + "}"


class RepeatedKeys:
    """For `json.JSONDecoder(object_pairs_hook=...)`: notes the keys that an object holds more than once.

    The last value stands, as in Python's own parser.
    """

    def __init__(self) -> None:
        self._keys: list[str] = []

    def __call__(self, pairs: list[tuple[str, object]]) -> dict[str, object]:
        found = dict(pairs)
        if len(found) < len(pairs):
            names = [key for key, _ in pairs]
            self._keys += sorted({key for key in names if names.count(key) > 1})
        return found

    def take_keys(self) -> list[str]:
        """The keys noted since the last call."""
        keys, self._keys = self._keys, []
        return keys
