"""One line of a rollout shard -> its evidence, by simdjson where it can, by Python's json where simdjson refuses.

Both paths give the same evidence for every line that both read. Format: allenai/open-instruct, `rl_utils.py`.
"""

import json
import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
import simdjson

from homes.names import storable
from ingest.formats.json_values import parse_json
from ingest.formats.lines import Line
from ingest.formats.values import Unreadable

EVIDENCE_FLOOR_TOKENS = 4
"""Shorter runs of zero logprobs are not landed: single zeros are common where a policy is near-certain."""

Scalars = tuple[object, ...]


@dataclass
class Evidence:
    """What one record holds. Arrays are numpy; `scalars` are in the order of SCALARS."""

    scalars: Scalars
    prompt_tokens: int | None
    response_tokens: int
    logprob_count: int | None
    nan_logprob_count: int | None
    zero_run_starts: np.ndarray
    zero_run_tokens: np.ndarray
    special_positions: np.ndarray
    special_ids: np.ndarray
    kept: tuple[object, object, object] | None
    was_tolerated: bool


SCALARS = (
    "step_idx",
    "sample_idx",
    "prompt_idx",
    "reward",
    "advantage",
    "finish_reason",
    "dataset",
    "call_count",
    "timeout_count",
    "tool_runtime_seconds",
    "is_tool_called",
)


class RecordReader:
    """Reads lines into Evidence. `special_ids`: the token ids whose positions are evidence, ascending."""

    def __init__(self, special_ids: list[int], keep_tokens: bool) -> None:
        self._parser = simdjson.Parser()
        self._special_ids = np.array(special_ids, dtype=np.int64)
        self._keep_tokens = keep_tokens

    def read(self, line: Line) -> Evidence:
        """The line's evidence. Raises Unreadable for what is no record."""
        return self._fast(line) or self._tolerant(bytes(line.view()))

    def _fast(self, line: Line) -> Evidence | None:
        """None where only Python's json can tell what the line holds."""
        try:
            record = self._parser.parse(line.view())
            if not isinstance(record, simdjson.Object):
                return None
            keys = list(record)
            fields = {k: record[k] for k in keys if k != "ground_truth"}
            info = fields.get("request_info")
            if len(set(keys)) < len(keys) or (isinstance(info, simdjson.Object) and _repeats(info)):
                return None
            prompt, response, logprobs = (fields.get(k) for k in ("prompt_tokens", "response_tokens", "logprobs"))
            if not (
                isinstance(prompt, simdjson.Array)
                and isinstance(response, simdjson.Array)
                and isinstance(logprobs, simdjson.Array)
            ):
                return None
            prompt_ids, response_ids, numbers = _copied(prompt, "i"), _copied(response, "i"), _copied(logprobs, "d")
            scalars = _scalars(fields, info)
        except (ValueError, TypeError, RuntimeError, KeyError):  # a key with NUL in it can't be looked up
            return None
        found = self._evidence(scalars, len(prompt_ids), response_ids, numbers, 0)
        if self._keep_tokens:
            found.kept = (prompt_ids, response_ids, numbers)
        return found

    def _tolerant(self, text: bytes) -> Evidence:
        fields = _load(text)
        prompt = _token_ids(fields.get("prompt_tokens"), "prompt_tokens")
        response = _token_ids(fields.get("response_tokens"), "response_tokens")
        if response is None:
            raise Unreadable("no response_tokens")
        numbers = _numbers(fields.get("logprobs"))
        nan_count = None if numbers is None else int(np.isnan(numbers).sum())
        ids = np.array([-1 if i is None else i for i in response], dtype=np.int64)
        found = self._evidence(
            _scalars(fields, fields.get("request_info")),
            None if prompt is None else len(prompt),
            ids,
            numbers,
            nan_count,
        )
        found.was_tolerated = True
        if self._keep_tokens:
            found.kept = (prompt, response, numbers)
        return found

    def _evidence(self, scalars, prompt_tokens, response_ids, numbers, nan_count) -> Evidence:
        starts, lengths = _zero_runs(numbers) if numbers is not None else (_NONE, _NONE)
        positions, ids = _NONE, _NONE
        if len(self._special_ids):
            # Special tokens lie together at one end of a vocabulary: a first cut leaves few to look up.
            near = (response_ids >= self._special_ids[0]).nonzero()[0]
            near_ids = response_ids[near]
            places = np.searchsorted(self._special_ids[:-1], near_ids)
            is_special = self._special_ids[places] == near_ids
            positions, ids = near[is_special], near_ids[is_special]
        count = None if numbers is None else len(numbers)
        return Evidence(
            scalars, prompt_tokens, len(response_ids), count, nan_count, starts, lengths, positions, ids, None, False
        )


_NONE = np.array([], dtype=np.int64)


def _zero_runs(numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Starts and lengths of the maximal runs of exact zeros that reach the evidence floor. -0.0 is zero, NaN is not.

    Looks for windows of 4 zeros, not for zeros: single ones are many, and each would cost a branch taken by surprise.
    """
    is_zero = np.zeros(len(numbers) + 5, dtype=bool)
    np.equal(numbers, 0.0, out=is_zero[1:-4])
    is_pair = is_zero[:-1] & is_zero[1:]
    is_window = is_pair[:-2] & is_pair[2:]
    edges = (is_window[1:] != is_window[:-1]).nonzero()[0]
    starts = edges[::2]
    return starts, edges[1::2] - starts + (EVIDENCE_FLOOR_TOKENS - 1)


def _repeats(mapping: simdjson.Object) -> bool:
    keys = list(mapping)
    return len(set(keys)) < len(keys)


def _copied(array: simdjson.Array, of_type: Literal["i", "d"]) -> np.ndarray:
    """The array's numbers, nested lists read as `_unnested` reads them. Raises Unreadable where only it can tell."""
    numbers = np.frombuffer(array.as_buffer(of_type=of_type), dtype=np.int64 if of_type == "i" else np.float64)
    if len(numbers) != len(array):
        raise Unreadable("lists of another size inside a list")
    return numbers


def _unnested(values: list) -> list:
    """`values`, or what its nested lists hold where that is one value an element: a column printed as [[1], [2]]."""
    if not any(isinstance(v, list) for v in values):
        return values
    found: list = []
    waiting = values[::-1]
    while waiting and len(found) <= len(values):
        value = waiting.pop()
        if isinstance(value, list):
            waiting.extend(reversed(value))
        else:
            found.append(value)
    return found if len(found) == len(values) else values


def _load(text: bytes) -> dict:
    fields = parse_json(text)
    if not isinstance(fields, dict):
        raise Unreadable(f"a {_kind(fields)}, not a record")
    return fields


def _token_ids(value: object, name: str) -> list[int | None] | None:
    """The ids, None for one beyond 64 bits; None where the record has no such key."""
    if value is None:
        return None
    if not isinstance(value, list):
        raise Unreadable(f"{name} is a {_kind(value)}, not a list of token ids")
    value = _unnested(value)
    for item in value:
        if type(item) is not int:
            raise Unreadable(f"{name} holds a {_kind(item)}, not only token ids")
    return [_bigint(item) for item in value]


def _numbers(value: object) -> np.ndarray | None:
    """None where it is no list of numbers."""
    if not isinstance(value, list):
        return None
    value = _unnested(value)
    if any(type(item) not in (int, float) for item in value):
        return None
    return np.array([_double(item) for item in value], dtype=np.float64)


def _scalars(fields: dict, info: object) -> Scalars:
    """In the order of SCALARS. Raises Unreadable where the record has no key."""
    step, sample = _bigint(fields.get("step")), _bigint(fields.get("sample_idx"))
    if step is None or sample is None:
        name = "step" if step is None else "sample_idx"
        raise Unreadable(f"{name} is missing" if fields.get(name) is None else f"{name} is no whole number of 64 bits")
    calls = timeouts = seconds = called = None
    if isinstance(info, (dict, simdjson.Object)):
        calls, timeouts = _bigint(info.get("num_calls")), _bigint(info.get("timeouts"))
        seconds, called = _double(info.get("tool_runtimes")), info.get("tool_calleds")
    return (
        step,
        sample,
        _bigint(fields.get("prompt_idx")),
        _double(fields.get("reward")),
        _double(fields.get("advantage")),
        _text(fields.get("finish_reason")),
        _text(fields.get("dataset")),
        calls,
        timeouts,
        seconds,
        called if isinstance(called, bool) else None,
    )


def _bigint(value: object) -> int | None:
    return value if type(value) is int and -(2**63) <= value < 2**63 else None


def _double(value: object) -> float | None:
    if type(value) is not int and type(value) is not float:
        return None
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _text(value: object) -> str | None:
    """A string as it is, anything else as JSON text; lone surrogates, which Parquet can't hold, as their escapes."""
    if isinstance(value, (simdjson.Array, simdjson.Object)):
        value = value.as_list() if isinstance(value, simdjson.Array) else value.as_dict()
    if value is None:
        return None
    text = value if isinstance(value, str) else json.dumps(value)
    return storable(text)


def _kind(value: object) -> str:
    names = {dict: "object", list: "list", str: "string", bool: "boolean", float: "number", int: "number"}
    return names.get(type(value), "null")
