"""Config and summary of a run: keys that later records set anew or remove, landed once at the log's end."""

import json
from collections.abc import Iterator

import pyarrow as pa

from ingest.formats.json_values import parse_json
from ingest.formats.values import Unreadable
from ingest.history.values import Leaf, flatten, object_text, shallow_path


class Tree:
    """Nested keys and the JSON text last set for each. Setting a key replaces what it held, nested keys included."""

    def __init__(self) -> None:
        self._root: dict = {}

    def set(self, path: tuple[str, ...], text: str) -> None:
        """Set the value at `path`; a JSON object of plain values sets a leaf for each of its own,
        and a text that is no JSON is set as a JSON string."""
        path = shallow_path(path)
        leaves = flatten(Leaf(0, path, text if _is_json(text) else json.dumps(text)))
        if leaves[0].path != path:
            self.remove(path)
        for leaf in leaves:
            *holders, last = shallow_path(leaf.path)
            node = self._root
            for key in holders:
                if not isinstance(node.get(key), dict):
                    node[key] = {}
                node = node[key]
            node[last] = leaf.text

    def remove(self, path: tuple[str, ...]) -> None:
        """Remove the value at `path`, if there is one."""
        path = shallow_path(path)
        node = self._root
        for key in path[:-1]:
            held = node.get(key)
            if not isinstance(held, dict):
                return
            node = held
        node.pop(path[-1], None)

    def batch(self, key_column: str) -> tuple[pa.RecordBatch, list[str]]:
        """A row per leaf (or object with a `_type`), and the keys that two paths share, of which the last landed."""
        found: dict[str, str] = {}
        shared = []
        for path, text in _leaves((), self._root):
            name = ".".join(path)
            if name in found:
                shared.append(name)
            found[name] = text
        columns = {key_column: list(found), "value_json": list(found.values())}
        schema = pa.schema([(name, pa.string()) for name in columns])
        return pa.RecordBatch.from_pydict(columns, schema), shared


def _is_json(text: str) -> bool:
    try:
        parse_json(text)
        return True
    except Unreadable:
        return False


def _leaves(path: tuple[str, ...], node: dict) -> Iterator[tuple[tuple[str, ...], str]]:
    for key, child in node.items():
        if isinstance(child, str):
            yield (*path, key), child
        elif "_type" in child:
            yield (*path, key), object_text(child)
        else:
            yield from _leaves((*path, key), child)
