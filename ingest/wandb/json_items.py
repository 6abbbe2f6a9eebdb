"""JSON and JSONL exports of W&B as logged items: a list of rows, or a row a line."""

import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa

from homes.landing import quarantine
from ingest.history.values import Leaf
from ingest.wandb.csv_items import Items

_BATCH_ITEMS = 200_000
_NAMED_NUMBERS = {"NaN": "NaN", "Infinity": "Infinity", "-Infinity": "-Infinity"}
"""W&B's API spells what JSON has no number for as these strings."""

Rows = tuple[str, pa.RecordBatch]


def rows_of(path: Path) -> Iterator[Items | Rows]:
    """The rows of a `.jsonl` file, or of a `.json` file that holds a list; what is no row is quarantined."""
    return gather(_lines(path) if path.suffix == ".jsonl" else _list(path))


def _text(value: object) -> str:
    return repr(value) if type(value) is int else json.dumps(value)


def gather(
    found: Iterable[tuple[int, str, dict | None, str | None]], spell: Callable[[object], str] = _text
) -> Iterator[Items | Rows]:
    """Items, some 200,000 at a time, of rows given as (number, locator, row, fault); a fault is quarantined.

    `spell` gives the JSON text of a value.
    """
    numbers: list[int] = []
    rows: list[int] = []
    keys: list[str] = []
    texts: list[str] = []
    special: list[Leaf] = []
    for number, locator, row, fault in found:
        if fault:
            yield quarantine(locator, fault)
        if row is None:
            continue
        for key, value in row.items():
            key = key if key.isascii() else key.encode("utf-8", "backslashreplace").decode()
            if isinstance(value, dict):
                special.append(Leaf(len(numbers), (key,), spell(value)))
            else:
                rows.append(len(numbers))
                keys.append(key)
                named = _NAMED_NUMBERS.get(value) if isinstance(value, str) else None
                texts.append(named or spell(value))
        numbers.append(number)
        if len(texts) + 8 * len(special) >= _BATCH_ITEMS:
            yield _items(numbers, rows, keys, texts, special)
            numbers, rows, keys, texts, special = [], [], [], [], []
    if numbers:
        yield _items(numbers, rows, keys, texts, special)


def _items(numbers: list[int], rows: list[int], keys: list[str], texts: list[str], special: list[Leaf]) -> Items:
    return Items(
        np.array(numbers),
        np.array(rows, dtype=np.int64),
        pa.array(keys, pa.string()),
        pa.array(texts, pa.string()),
        special,
    )


class _Repeats:
    """Notes the keys that an object holds more than once; the last value stands, as in Python's own parser."""

    def __init__(self) -> None:
        self.keys: list[str] = []

    def __call__(self, pairs: list[tuple[str, object]]) -> dict[str, object]:
        found = dict(pairs)
        if len(found) < len(pairs):
            names = [key for key, _ in pairs]
            self.keys += sorted({key for key in names if names.count(key) > 1})
        return found

    def fault(self) -> str | None:
        keys, self.keys = self.keys, []
        return f"{', '.join(map(repr, keys))} more than once in one row: the last value landed" if keys else None


def _lines(path: Path) -> Iterator[tuple[int, str, dict | None, str | None]]:
    repeats = _Repeats()
    decoder = json.JSONDecoder(object_pairs_hook=repeats)
    with open(path, "rb") as handle:
        for number, line in enumerate(handle, 1):
            locator = f"line {number}"
            try:
                text = line.decode("utf-8-sig" if number == 1 else "utf-8").strip()
                row = decoder.decode(text) if text else {}
            except UnicodeDecodeError:
                yield number, locator, None, "not UTF-8 text"
                continue
            except (ValueError, RecursionError) as error:
                torn = " (the file ends inside this row)" if not line.endswith(b"\n") else ""
                yield number, locator, None, f"not JSON: {error}{torn}"
                continue
            if not isinstance(row, dict):
                yield number, locator, None, "not a JSON object"
            elif text:
                yield number, locator, row, repeats.fault()


def _list(path: Path) -> Iterator[tuple[int, str, dict | None, str | None]]:
    """The elements of one JSON list, one by one, so that those before damage land."""
    text = path.read_bytes().decode("utf-8-sig", "backslashreplace")
    repeats = _Repeats()
    decoder = json.JSONDecoder(object_pairs_hook=repeats)
    at = _skip(text, 0)
    if text[at : at + 1] != "[":
        yield 0, f"byte {at}", None, "not a JSON list of rows"
        return
    at = _skip(text, at + 1)
    number = 0
    while text[at : at + 1] != "]":
        number += 1
        try:
            row, end = decoder.raw_decode(text, at)
            next_at = _skip(text, end)
            closing = text[next_at : next_at + 1]
            if closing not in (",", "]", ""):
                raise ValueError("no comma after it")
        except (ValueError, RecursionError) as error:
            yield number, f"byte {at}", None, f"row {number} and what follows is not JSON: {error}"
            return
        if isinstance(row, dict):
            yield number, f"byte {at}", row, repeats.fault()
        else:
            yield number, f"byte {at}", None, f"row {number} is not a JSON object"
        if not closing:
            yield number, f"byte {next_at}", None, f"the file ends before its list does, after row {number}"
            return
        at = _skip(text, next_at + 1) if closing == "," else next_at


def _skip(text: str, at: int) -> int:
    while text[at : at + 1] in (" ", "\t", "\r", "\n"):
        at += 1
    return at
