"""Reader of checkpoint folders on disk: their files with times, their metadata, their trainer's word, their tensors."""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from homes.landing import Batches, TableBatch, quarantine
from ingest.checkpoints.files import read_metadata
from ingest.checkpoints.names import JSON_FILES, STATE_FILES
from ingest.checkpoints.places import own_files
from ingest.checkpoints.tensors import read_tensors
from ingest.formats.json_values import json_object
from ingest.formats.rows import rows_to_batches
from ingest.formats.values import Unreadable, as_integer

_ADDED_TOKENS = "added_tokens.json"
_VERL_CONFIGS = "huggingface"
"""Where FSDP checkpoints of verl keep what transformers needs."""
_FULL = 50_000

Rows = dict[str, list[dict[str, Any]]]


def read_folders(folders: Iterable[tuple[dict[str, Any], Path]], root: Path) -> Batches:
    """Rows for checkpoint folders, each a row of checkpoint_folders so far as it is known and its path. Locators of
    what can't be read are paths below `root`."""
    rows = _no_rows()
    for idx, (known, path) in enumerate(folders):
        rows["checkpoint_folders"].append(known | {"folder_idx": idx})
        is_bare = known["source_kind"] == "folder"
        names = []
        for name, stat in own_files(path) if is_bare else all_files(path):
            names.append(name)
            rows["checkpoint_files"].append(
                {
                    "folder_idx": idx,
                    "file_name": os.fsencode(name).decode("utf-8", "replace"),
                    "size_bytes": stat.st_size,
                    "modified_at": stat.st_mtime_ns // 1000,
                    "problem": _read_tensors(idx, name, path / name, rows) if name.endswith(".safetensors") else None,
                }
            )
        yield from _read_files(idx, path, names, root, rows)
        if len(rows["checkpoint_files"]) + len(rows["checkpoint_tensors"]) > _FULL:
            yield from rows_to_batches(rows)
            rows = _no_rows()
    yield from rows_to_batches(rows)


def _no_rows() -> Rows:
    names = ("folders", "files", "configs", "states", "tensors")
    return {f"checkpoint_{name}": [] for name in names}


def all_files(folder: Path) -> Iterator[tuple[str, os.stat_result]]:
    """(path below it, stat) of every file in a folder."""
    start = len(str(folder)) + 1
    for base, inner, files in os.walk(folder):
        inner.sort()
        for name in sorted(files):
            path = os.path.join(base, name)
            yield path[start:], os.stat(path, follow_symlinks=False)


def _read_files(idx: int, folder: Path, names: list[str], root: Path, rows: Rows) -> Iterator[TableBatch]:
    """Add what the files of one folder say to `rows`; yields what can't be read."""
    for name in names:
        place, plain = folder / name, name.removeprefix(f"{_VERL_CONFIGS}/")
        if plain not in (*JSON_FILES, *STATE_FILES) or (plain != name and plain in names):
            continue
        try:
            raw = place.read_bytes()
        except OSError:  # a link to nowhere
            continue
        table, row, problem = read_metadata(idx, plain, os.path.relpath(place, root), raw)
        if plain == "tokenizer_config.json" and row.get("eos_token_ids") is None and row.get("eos_token"):
            row["eos_token_ids"] = _added_token(place.parent, row["eos_token"])
        rows[table].append(row)
        if problem:
            yield quarantine(*problem)


def _read_tensors(idx: int, name: str, place: Path, rows: Rows) -> str | None:
    """Add the tensors of a file to `rows`, all or none; the reason where it can't be read."""
    found: list[dict[str, Any]] = []
    try:
        found += read_tensors(idx, name, place)
    except FileNotFoundError:  # a link to nowhere
        return None
    except Unreadable as problem:
        return str(problem)
    rows["checkpoint_tensors"] += found
    return None


def _added_token(folder: Path, token: str) -> list[int] | None:
    """The id of a token in a folder's added_tokens.json; null where that does not say."""
    try:
        found = as_integer(json_object((folder / _ADDED_TOKENS).read_bytes()).get(token))
    except (OSError, Unreadable):
        return None
    return None if found is None else [found]
