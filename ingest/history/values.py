"""What was logged, as columns: logged keys and JSON texts become metric, key_path, value and value_text.

Every reader of histories hands its items here, so a value lands the same whichever way it came:
- a nested dict of plain values is one metric a leaf (`a.b`, key path `["a", "b"]`), whether the tracker logged the dict
  as one JSON object or as one item a leaf;
- a dict with a `_type` (histogram, table, image, ...) is one JSON text under its own key, put together again where the
  tracker took it apart;
- numbers, NaN and the infinities are doubles; an integer beyond 2^53 keeps its text as well.
"""

import json
import re
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from homes.names import storable
from ingest.formats.json_values import DEEPEST, parse_json
from ingest.formats.values import Unreadable

_EXACT = float(2**53)
_INTEGER = re.compile(r"-?[0-9]+")
_NUMBER_STARTS = np.zeros(256, dtype=bool)
_NUMBER_STARTS[list(b"-0123456789NI")] = True
_JSON_STARTS = tuple('"{[tfn')


class Leaf(NamedTuple):
    """One logged value: its row in the batch, the path of its key, its JSON text."""

    row: int
    path: tuple[str, ...]
    text: str


class Repeat(NamedTuple):
    """A key that one row holds more than once: the last value stands."""

    row: int
    metric: str
    kept: str
    dropped: list[str]

    def reason(self, holder: str) -> str:
        """Why the others are quarantined; `holder` is what holds the key, a record or a row."""
        others = ", ".join(text[:80] for text in self.dropped)
        times = f"is in one {holder} {len(self.dropped) + 1} times"
        return f"key {self.metric!r} {times}: the last value, {self.kept[:80]}, landed, not {others}"


class Columns(NamedTuple):
    """Equally long columns, ordered by row. `codes` tell keys apart; a plain key's is its place in
    the dictionary of `metric`."""

    rows: np.ndarray
    codes: np.ndarray
    metric: pa.DictionaryArray
    key_path: pa.Array
    value: pa.Array
    value_text: pa.Array
    repeats: list[Repeat]

    def first_of(self, metric: str, row_count: int) -> tuple[pa.Array, pa.Array]:
        """Value and text of the plain key `metric` by row; null where a row has none."""
        position = np.full(row_count, -1)
        found = np.flatnonzero(self.codes == self.metric.dictionary.index(metric).as_py())
        position[self.rows[found]] = found
        at = pa.array(position, mask=position < 0)
        return self.value.take(at), self.value_text.take(at)


def columns(rows: np.ndarray, keys: pa.Array, texts: pa.Array, special: list[Leaf]) -> Columns:
    """Columns of the plain items (`rows` rising, `keys`, `texts`) and of those that need looking at (`special`)."""
    paths: list[str | None] = []
    if special:
        flat = [leaf for item in special for leaf in flatten(item)]
        leaves = _fold([leaf._replace(path=shallow_path(leaf.path)) for leaf in flat])
        paths = [json.dumps(leaf.path, ensure_ascii=False) if len(leaf.path) > 1 else None for leaf in leaves]
        keys = pa.concat_arrays([keys, pa.array([".".join(leaf.path) for leaf in leaves], pa.string())])
        texts = pa.concat_arrays([texts, pa.array([leaf.text for leaf in leaves], pa.string())])
        rows = np.concatenate([rows, np.array([leaf.row for leaf in leaves], dtype=rows.dtype)])
        order = np.argsort(rows, kind="stable")
        rows, keys, texts = rows[order], keys.take(pa.array(order)), texts.take(pa.array(order))
        key_path = pa.array([None] * (len(rows) - len(paths)) + paths, pa.string()).take(pa.array(order))
    else:
        key_path = pa.nulls(len(rows), pa.string())
    metric = pc.dictionary_encode(keys)
    codes = metric.indices.to_numpy()
    if any(paths):
        nested = pc.dictionary_encode(key_path, null_encoding="mask")
        at = nested.indices.fill_null(-1).to_numpy()
        codes = np.where(at >= 0, at + len(metric.dictionary), codes)
    repeats: list[Repeat] = []
    kept = _last_of_each(rows, codes)
    if kept is not None:
        repeats = _repeats(rows, codes, metric, texts)
        rows, codes, at = rows[kept], codes[kept], pa.array(kept)
        metric, key_path, texts = metric.take(at), key_path.take(at), texts.take(at)
    value, value_text = split(texts)
    return Columns(rows, codes, metric, key_path, value, value_text, repeats)


def flatten(item: Leaf) -> list[Leaf]:
    """The leaves of an item whose text is a JSON object of plain values, else the item itself."""
    if not item.text.startswith("{"):
        return [item]
    try:
        found: list[Leaf] = []
        _walk(item, parse_json(item.text), found)
        return found
    except Unreadable:
        return [item]


def shallow_path(path: tuple[str, ...]) -> tuple[str, ...]:
    """The path, its end joined with "." where it is nested deeper than a value may be; the metric's name stays."""
    return path if len(path) <= DEEPEST else (*path[: DEEPEST - 1], ".".join(path[DEEPEST - 1 :]))


def _walk(item: Leaf, value: object, found: list[Leaf]) -> None:
    if isinstance(value, dict) and value and "_type" not in value:
        for key, child in value.items():
            _walk(Leaf(item.row, (*item.path, storable(key)), ""), child, found)
    else:
        found.append(Leaf(item.row, item.path, item.text or json.dumps(value)))


def _fold(leaves: list[Leaf]) -> list[Leaf]:
    """The leaves, with those of one object that has a `_type` put together as its JSON text."""
    typed = {(leaf.row, leaf.path[:-1]) for leaf in leaves if len(leaf.path) > 1 and leaf.path[-1] == "_type"}
    if not typed:
        return leaves
    folded: list[Leaf] = []
    objects: dict[tuple[int, tuple[str, ...]], dict] = {}
    for leaf in leaves:
        prefixes = (leaf.path[:size] for size in range(1, len(leaf.path)))
        prefix = next((p for p in prefixes if (leaf.row, p) in typed), None)
        tree = {} if prefix is None else objects.setdefault((leaf.row, prefix), {})
        if prefix is None or not _insert(tree, leaf.path[len(prefix) :], leaf.text):
            folded.append(leaf)
    return folded + [Leaf(row, path, object_text(tree)) for (row, path), tree in objects.items()]


def _insert(tree: dict, path: tuple[str, ...], text: str) -> bool:
    for key in path[:-1]:
        tree = tree.setdefault(key, {})
        if not isinstance(tree, dict):
            return False
    if path[-1] in tree:
        return False
    tree[path[-1]] = text
    return True


def object_text(tree: dict | str) -> str:
    """JSON text of a tree whose leaves are JSON texts, keys sorted."""
    if isinstance(tree, str):
        return tree
    return (
        "{"
        + ", ".join(f"{json.dumps(key, ensure_ascii=False)}: {object_text(tree[key])}" for key in sorted(tree))
        + "}"
    )


def _last_of_each(rows: np.ndarray, codes: np.ndarray) -> np.ndarray | None:
    """Positions of the last item of each (row, code), rising; None where every item is."""
    if not len(rows):
        return None
    width = int(codes.max()) + 1
    cells = rows * width + codes
    if (int(rows[-1]) + 1) * width <= 64 * len(rows) + 1_000_000:
        seen = np.zeros((int(rows[-1]) + 1) * width, dtype=bool)
        seen[cells] = True
        if np.count_nonzero(seen) == len(rows):
            return None
    _, from_end = np.unique(cells[::-1], return_index=True)
    return None if len(from_end) == len(rows) else np.sort(len(rows) - 1 - from_end)


def _repeats(rows: np.ndarray, codes: np.ndarray, metric: pa.DictionaryArray, texts: pa.Array) -> list[Repeat]:
    groups: dict[tuple[int, int], list[int]] = {}
    _, index, counts = np.unique(rows * (int(codes.max()) + 1) + codes, return_inverse=True, return_counts=True)
    for position in np.flatnonzero(counts[index] > 1).tolist():
        groups.setdefault((int(rows[position]), int(codes[position])), []).append(position)
    return [
        Repeat(row, metric[at[-1]].as_py(), texts[at[-1]].as_py(), [texts[i].as_py() for i in at[:-1]])
        for (row, _), at in groups.items()
    ]


def first_bytes(texts: pa.Array) -> np.ndarray:
    """The first byte of each text; 0 where it is empty."""
    count = len(texts)
    offsets = np.frombuffer(texts.buffers()[1], np.int32)[texts.offset : texts.offset + count + 1]
    data = np.frombuffer(texts.buffers()[2] or b" ", np.uint8)
    first = data[np.minimum(offsets[:-1], len(data) - 1)]
    return np.where(offsets[1:] > offsets[:-1], first, 0)


def looks_like_number(texts: pa.Array) -> np.ndarray:
    """Whether each text starts as a JSON number, NaN or an infinity does."""
    return _NUMBER_STARTS[first_bytes(texts)]


def plain_numpy(values: pa.Array) -> np.ndarray:
    """Doubles as numpy; null becomes NaN."""
    return values.to_numpy() if not values.null_count else values.fill_null(np.nan).to_numpy()


def split(texts: pa.Array) -> tuple[pa.Array, pa.Array]:
    """`value` and `value_text` of JSON texts."""
    count = len(texts)
    if not count:
        return pa.array([], pa.float64()), pa.array([], pa.string())
    is_number = looks_like_number(texts)
    try:
        if is_number.all():
            value, value_text = pc.cast(texts, pa.float64()), pa.nulls(count, pa.string())
        else:
            mask = pa.array(is_number)
            value = pc.cast(pc.if_else(mask, texts, None), pa.float64())
            value_text = pc.if_else(pc.or_(mask, pc.equal(texts, "null")), None, texts)
    except pa.ArrowInvalid:
        return _split_slowly(texts.to_pylist())
    with np.errstate(invalid="ignore"):
        big = np.flatnonzero(np.abs(plain_numpy(value)) >= _EXACT)
    if len(big):
        exact = {i: text for i in big.tolist() if _is_beyond_exact(text := texts[i].as_py())}
        if exact:
            value_text = pa.array([exact.get(i, text) for i, text in enumerate(value_text.to_pylist())], pa.string())
    return value, value_text


def _is_beyond_exact(text: str) -> bool:
    return _INTEGER.fullmatch(text) is not None and text.lstrip("-") != str(2**53)


def _split_slowly(texts: list[str]) -> tuple[pa.Array, pa.Array]:
    """As `split`, for texts among which some start like a number and are none: those land as JSON strings."""
    values: list[float | None] = []
    value_texts: list[str | None] = []
    for text in texts:
        try:
            value = float(text) if text[:1] and text[0] in "-0123456789NI" else None
        except ValueError:
            value = None
        values.append(value)
        if text == "null" or (value is not None and not (abs(value) >= _EXACT and _is_beyond_exact(text))):
            value_texts.append(None)
        else:
            value_texts.append(text if value is not None or text.startswith(_JSON_STARTS) else json.dumps(text))
    return pa.array(values, pa.float64()), pa.array(value_texts, pa.string())
