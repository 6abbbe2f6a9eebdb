"""Reader of Tinker's `checkpoints.jsonl`: a line for each checkpoint that a run saved on Tinker's servers."""

from pathlib import Path
from typing import Any

from homes.landing import Batches
from ingest.formats.heads import head, keys_in
from ingest.formats.json_values import json_object
from ingest.formats.lines import text_lines
from ingest.formats.rows import quarantine_line, rows_to_batches
from ingest.formats.values import Unreadable, as_integer, as_name

_KEYS = {"state_path", "sampler_path"}


def is_list(path: Path) -> bool:
    """Whether a file is such a list, by its name and the keys of its first lines."""
    return path.name == "checkpoints.jsonl" and not _KEYS.isdisjoint(keys_in(head(path)))


def read_list(path: Path) -> Batches:
    """Rows of checkpoint_folders; a line that names no checkpoint is quarantined.

    The id is the path that a server samples from, else the one that training goes on from. `batch` counts from 0.
    """
    rows: list[dict[str, Any]] = []
    for line, raw in text_lines(path):
        try:
            if isinstance(raw, Unreadable):
                raise raw
            record = json_object(raw)
            model_id = as_name(record.get("sampler_path")) or as_name(record.get("state_path"))
            if model_id is None:
                raise Unreadable("neither a sampler_path nor a state_path")
        except Unreadable as problem:
            yield quarantine_line(line.number, problem)
            continue
        batch = as_integer(record.get("batch"))
        rows.append(
            {
                "folder_idx": len(rows),
                "source_kind": "list",
                "model_id": model_id,
                "family": path.parent.name,
                "step_name": as_name(record.get("name")) if batch is None else str(batch),
                "folder_path": f"{path}:{line.number}",
            }
        )
    yield from rows_to_batches({"checkpoint_folders": rows})
