"""JSON and JSONL exports of W&B as logged items: a list of rows, or a row a line."""

import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa

from homes.landing import TableBatch, quarantine
from homes.names import storable
from ingest.formats.json_values import RepeatedKeys, refuse_too_deep
from ingest.formats.lines import text_lines
from ingest.formats.values import Unreadable
from ingest.history.values import Leaf
from ingest.wandb.csv_items import Items

_BATCH_ITEMS = 200_000
_NAMED_NUMBERS = {"NaN": "NaN", "Infinity": "Infinity", "-Infinity": "-Infinity"}
"""W&B's API spells what JSON has no number for as these strings."""

JsonRow = tuple[int, str, dict | None, str | None]
"""A row's number (from 1), its locator, its values by key (None where it can't be read), and what is wrong with it."""


def read_json_items(path: Path) -> Iterator[Items | TableBatch]:
    """The rows of a `.jsonl` file, or of a `.json` file that holds a list; what is no row is quarantined."""
    return batch_rows(_lines(path) if path.suffix == ".jsonl" else _list(path))


def _text(value: object) -> str:
    return repr(value) if type(value) is int else json.dumps(value)


def batch_rows(found: Iterable[JsonRow], to_text: Callable[[object], str] = _text) -> Iterator[Items | TableBatch]:
    """Items, some 200,000 at a time, of rows; a row's fault is quarantined. `to_text` writes a value as JSON."""
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
            key = storable(key)
            if isinstance(value, dict):
                special.append(Leaf(len(numbers), (key,), to_text(value)))
            else:
                rows.append(len(numbers))
                keys.append(key)
                named = _NAMED_NUMBERS.get(value) if isinstance(value, str) else None
                texts.append(named or to_text(value))
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


def _lines(path: Path) -> Iterator[JsonRow]:
    repeats = RepeatedKeys()
    decoder = json.JSONDecoder(object_pairs_hook=repeats)
    for line, raw in text_lines(path):
        locator = f"line {line.number}"
        try:
            if isinstance(raw, Unreadable):
                raise raw
            repeats.take_keys()
            row = decoder.decode(raw.decode())
            refuse_too_deep(row, raw.count(b"[") + raw.count(b"{"))
        except UnicodeDecodeError:
            yield line.number, locator, None, "not UTF-8 text"
            continue
        except (ValueError, RecursionError) as error:
            reason = str(error) if isinstance(error, Unreadable) else f"not JSON: {error}"
            yield line.number, locator, None, f"{reason} (the file ends inside this row)" if line.is_cut else reason
            continue
        if isinstance(row, dict):
            yield line.number, locator, row, _repeats_fault(repeats)
        else:
            yield line.number, locator, None, "not a JSON object"


def _repeats_fault(repeats: RepeatedKeys) -> str | None:
    keys = repeats.take_keys()
    return f"{', '.join(map(repr, keys))} more than once in one row: the last value landed" if keys else None


def _list(path: Path) -> Iterator[JsonRow]:
    """The elements of one JSON list, one by one, so that those before damage land."""
    text = path.read_bytes().decode("utf-8-sig", "backslashreplace")
    repeats = RepeatedKeys()
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
                raise Unreadable("no comma after it")
            refuse_too_deep(row, text.count("[", at, end) + text.count("{", at, end))
        except (ValueError, RecursionError) as error:
            yield number, f"byte {at}", None, f"row {number} and what follows is not JSON: {error}"
            return
        if isinstance(row, dict):
            yield number, f"byte {at}", row, _repeats_fault(repeats)
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
