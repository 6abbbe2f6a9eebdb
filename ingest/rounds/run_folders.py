"""Readers of folders landed as one source each: a saved step (`checkpoints/global_step_<N>/`), a W&B export."""

import csv
import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path

from homes.landing import Batches, Source, quarantine
from homes.names import file_stem, short_digest
from ingest.formats.heads import head, is_blank
from ingest.formats.json_lines import read_objects
from ingest.formats.json_values import kind_of, parse_json
from ingest.formats.rows import FieldCounts, Rows
from ingest.formats.values import Unreadable, as_integer, as_number, path_number
from ingest.run import file_digest
from ingest.wandb.run_json import read_run_json

_STEP = re.compile(r"global_step_\d+$")
_ADAPTER = re.compile(r"adapter_(model|config).*\.(safetensors|bin|json)$")
_RUN_MARKS = (b'"id"', b'"run_id"', b'"displayName"', b'"summary"', b'"config"', b'"state"')
_SYSTEM_MARKS = (b"system", b"timestamp", b"_runtime")
_TRACKER_FILES = ("run.json", "system_metrics.json", "system_metrics.jsonl", "system_metrics.csv")


def saved_step_of(path: Path) -> Path | None:
    """The `checkpoints/global_step_<N>/` in which a file lies; None where it lies in none."""
    return next((p for p in path.parents if _STEP.match(p.name) and p.parent.name == "checkpoints"), None)


def is_tracker_file(path: Path) -> bool:
    """Whether a file is a W&B export's run.json or its system metrics."""
    return path.name in _TRACKER_FILES and path.parent.parent.name == "wandb_export"


def holds_tracker_export(path: Path) -> bool:
    """Whether a file with such a name and place starts as what W&B exports of a run."""
    start = head(path)
    marks = _RUN_MARKS if path.name == "run.json" else _SYSTEM_MARKS
    return is_blank(start) or any(mark in start for mark in marks)


def folder_source(kind: str, folder: Path) -> Source:
    """The source that is one folder. Adapters and exports count by content, other files by path and size."""
    folder = folder.resolve()
    digest, size = hashlib.sha256(), 0
    for file in _files(folder):
        is_read = bool(_ADAPTER.match(file.name)) or is_tracker_file(file)
        content = file_digest(file) if is_read else ""
        digest.update(f"{file.relative_to(folder).as_posix()}\0{file.stat().st_size}\0{content}\n".encode())
        size += file.stat().st_size
    name = f"{file_stem(folder.name)}-{short_digest(f'{kind}:{folder}')}"
    return Source(kind, name, str(folder), digest.hexdigest(), size)


def _files(folder: Path) -> list[Path]:
    return sorted(p for p in folder.rglob("*") if p.is_file())


def read_saved_step(folder: Path) -> Batches:
    """The files of one saved step; of an adapter's files the SHA-256, of its configuration rank and alpha."""
    rows = Rows("rounds_saved_step_files")
    step = path_number(folder.name.removeprefix("global_step_"))
    if step is None:
        yield quarantine("byte 0", f"{folder.name}: a step of more than 64 bits")
        return
    for file in _files(folder):
        row = {
            "run_in_path": folder.parent.parent.name,
            "step": step,
            "path": file.relative_to(folder).as_posix(),
            "size_bytes": file.stat().st_size,
            "sha256": None,
            "content_json": None,
            "lora_rank": None,
            "lora_alpha": None,
        }
        if _ADAPTER.match(file.name):
            with open(file, "rb") as handle:
                row["sha256"] = hashlib.file_digest(handle, "sha256").hexdigest()
        if file.name == "adapter_config.json":
            try:
                config = parse_json(file.read_bytes())
                row["content_json"] = json.dumps(config, separators=(",", ":"))
            except Unreadable as problem:
                yield quarantine("byte 0", f"{row['path']}: {problem}")
                config = {}
            if isinstance(config, dict):
                row["lora_rank"] = as_integer(config.get("r"))
                row["lora_alpha"] = as_number(config.get("lora_alpha"))
        rows.add(row)
    yield from rows.last_batches()


def read_tracker_export(folder: Path) -> Batches:
    """run.json's scalars, and how many system records were returned with which columns."""
    exports, fields = Rows("rounds_tracker_exports"), Rows("rounds_tracker_fields")
    run = read_run_json(folder)
    if run.fault:
        yield quarantine("byte 0", run.fault)
    for field, value in sorted(_scalars(run.fields), key=lambda found: found[0]):
        fields.add({"field": field, "value": as_number(value), "value_text": json.dumps(value)})
    seen, count = FieldCounts("wandb_system"), None
    for record in _system_records(folder):
        count = count or 0
        if isinstance(record, dict):
            seen.add(record)
            count += 1
        elif record is not None:
            reason = record if isinstance(record, Unreadable) else "a record that is no JSON object"
            yield quarantine("byte 0", f"system metrics: {reason}")
    exports.add(
        {
            "export_name": folder.name,
            "run_in_path": folder.parent.parent.name,
            "run_id": run.run_id,
            "system_row_count": count,
        }
    )
    yield from exports.last_batches()
    yield from fields.last_batches()
    yield from seen.batches()


def _scalars(value: object, path: str = "") -> Iterator[tuple[str, object]]:
    if isinstance(value, dict):
        for key, member in value.items():
            yield from _scalars(member, f"{path}.{key}" if path else key)
    elif kind_of(value) != "array":
        yield path, value


def _system_records(folder: Path) -> Iterator[dict | Unreadable | None]:
    """Each returned system record, Unreadable where it can't be read; first None where there is a file."""
    for name in _TRACKER_FILES[1:]:
        file = folder / name
        if not file.exists():
            continue
        yield None
        if name.endswith(".jsonl"):
            yield from (fields for _, fields in read_objects(file))
        elif name.endswith(".csv"):
            with open(file, newline="", encoding="utf-8-sig", errors="replace") as handle:
                try:
                    for row in csv.DictReader(handle):
                        yield {key: value for key, value in row.items() if key and value}
                except csv.Error as error:
                    yield Unreadable(f"can't be read as CSV from here on: {error}")
        else:
            try:
                records = parse_json(file.read_bytes())
            except Unreadable as problem:
                yield problem
                return
            yield from (records if isinstance(records, list) else [Unreadable("not a JSON list of records")])
        return
