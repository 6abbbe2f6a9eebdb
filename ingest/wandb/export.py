"""Exported W&B histories: `history.csv`, `.json` or `.jsonl`, and what lies beside them.

`run.json` names the run (and may hold name, state, arm, config, summary); `config.json`, `summary.json` and
`system_metrics.csv|json|jsonl` belong to the history in the same folder.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from homes.landing import Source, TableBatch, quarantine
from homes.names import file_stem, short_digest, storable
from ingest.formats.json_values import parse_json
from ingest.formats.values import Unreadable, as_time
from ingest.history.tables import LogFacts, history_tables, logged_times, system_table
from ingest.history.tree import Tree
from ingest.history.values import Columns, columns
from ingest.run import file_digest
from ingest.wandb.axes import Axes
from ingest.wandb.csv_items import Items, block_items, faulty_columns, looks_like_a_header, read_blocks, read_header
from ingest.wandb.json_items import read_json_items
from ingest.wandb.run_json import RunJson, read_json_object, read_run_json, text_of

SUFFIXES = (".csv", ".json", ".jsonl")
RESPONSES = ("history_api", "history_scan_raw")
"""Stems of what the API answered, sampled and scanned. Each is a kind of source: the one with the most rows stands."""
HISTORIES = ("history", *RESPONSES)
BESIDE = ("run", "config", "summary", "system_metrics")
"""Stems of files that are read with a history, and are none."""

_NAMELESS = re.compile(r"history(_api|_scan_raw)?|export|data|metrics|rows|runs?|logs?|output|wandb(_export.*)?", re.I)
"""Stems that name no run."""
_EPOCH = datetime(1970, 1, 1)
_START_KEYS = ("started_at", "startedAt", "start_time", "created_at", "createdAt")


@dataclass
class ExportedRun:
    """What the files around an exported history say of its run, and what of them can't be read."""

    facts: LogFacts
    files: list[Path]
    config: dict[str, Any] = field(default_factory=dict)
    summary: dict[str, Any] = field(default_factory=dict)
    axes: Axes = field(default_factory=Axes)
    faults: list[str] = field(default_factory=list)


def export_source(path: Path, run_id: str | None) -> Source:
    """The source that is one exported history, named by its run: of several exports of one run the largest counts."""
    run = find_run(path, run_id)
    content = [file_digest(file) for file in run.files] + [f"{run.facts.run_id} {run.facts.arm_in_path}"]
    digest = hashlib.sha256("\n".join(content).encode("utf-8", "surrogatepass")).hexdigest()
    if run.facts.run_id is None:
        return Source("wandb", f"norun-{short_digest(str(path))}", str(path), digest, path.stat().st_size)
    arm = f"-{short_digest(run.facts.arm_in_path)}" if run.facts.arm_in_path else ""
    return Source(
        "wandb", f"{file_stem(run.facts.run_id)}-{run.facts.source_kind}{arm}", str(path), digest, path.stat().st_size
    )


def find_run(path: Path, run_id: str | None) -> ExportedRun:
    """The run of an exported history. `run_id` wins; otherwise its id comes from run.json, from the path
    by-run/<arm>/<run_id>, then from the file's stem, else from wandb_export/<run_id>/; it is None where none of them
    names a run."""
    run = ExportedRun(LogFacts("wandb", source_kind=path.stem if path.stem in RESPONSES else "export"), [path])
    others = [file for file in path.parent.iterdir() if file.suffix in SUFFIXES and file.stem not in BESIDE]
    is_nameless = _NAMELESS.fullmatch(path.stem) is not None
    is_alone = is_nameless or {file.stem for file in others} <= {path.stem}
    run_json = read_run_json(path.parent)
    _add_fault(run, run_json.fault)
    if run_json.run_id and (is_alone or run_json.run_id == path.stem):
        _add_run_json(run, run_json)
        is_alone = True
    elif path.parent.parent.name == "by-run":
        run.facts.run_id, run.facts.arm_in_path = path.stem, path.parent.name
    elif not is_nameless:
        run.facts.run_id = path.stem
    elif path.parent.parent.name == "wandb_export":
        run.facts.run_id = path.parent.name
    run.facts.run_id = run_id or run.facts.run_id
    if is_alone:
        run.files += [f for name in BESIDE for s in SUFFIXES if (f := path.parent / f"{name}{s}").is_file()]
        if not run.config:
            config, fault = read_json_object(path.parent / "config.json")
            _add_config(run, config)
            _add_fault(run, fault)
        if not run.summary:
            run.summary, fault = read_json_object(path.parent / "summary.json")
            _add_fault(run, fault)
    return run


def _add_fault(run: ExportedRun, fault: str | None) -> None:
    if fault:
        run.faults.append(fault)


def _add_run_json(run: ExportedRun, run_json: RunJson) -> None:
    """Take over what run.json says, in the words of the client (`name`) or of the API (`displayName`)."""
    facts, fields = run.facts, run_json.fields
    facts.run_id = run_json.run_id
    facts.run_name = text_of(fields.get("displayName") or fields.get("display_name") or fields.get("name"))
    for name, keys in {
        "arm_in_path": ("arm",),
        "state": ("state",),
        "entity": ("entity",),
        "project": ("project",),
        "run_group": ("group", "run_group"),
        "job_type": ("jobType", "job_type"),
    }.items():
        setattr(facts, name, next((text for key in keys if (text := text_of(fields.get(key)))), None))
    started = (as_time(fields.get(key)) for key in _START_KEYS)
    facts.started_at = next((moment for moment in started if moment and moment > _EPOCH), None)
    _add_config(run, _unwrapped(fields.get("config")))
    run.summary = _unwrapped(fields.get("summary") or fields.get("summaryMetrics"))


def _unwrapped(value: object) -> dict[str, Any]:
    """A dict, or one that the API wrapped as JSON text."""
    if isinstance(value, str):
        try:
            value = parse_json(value)
        except Unreadable:
            return {}
    return value if isinstance(value, dict) else {}


def _add_config(run: ExportedRun, config: dict[str, Any]) -> None:
    run.axes.add_config(config)
    run.config = _plain_config(config)


def _plain_config(config: dict[str, Any]) -> dict[str, Any]:
    """The config without the `{"value": ..., "desc": ...}` around each value that W&B's files have."""
    own = {key: value for key, value in config.items() if key not in ("_wandb", "wandb_version")}
    if own and all(isinstance(v, dict) and "value" in v and set(v) <= {"value", "desc"} for v in own.values()):
        return {key: value["value"] for key, value in own.items()}
    return config


def read_export(source: Source, run_id: str | None) -> Iterator[TableBatch]:
    """The rows of one exported history, its config, summary and system metrics."""
    path = Path(source.path)
    run = find_run(path, run_id)
    for fault in run.faults:
        yield quarantine("line 1", fault)
    if run.facts.run_id is None:
        yield quarantine(
            "line 1", "which run this is can't be told: put a run.json beside it, or name it with --run-id"
        )
        return
    row_count, is_read = 0, False
    for rows in read_items(path):
        if isinstance(rows, Items):
            is_read = True
            found, faults = to_columns(rows)
            yield from history_tables(found, pa.array(rows.numbers), row_count)
            yield from faults
            row_count += len(rows.numbers)
        else:
            yield rows
    if not is_read and not (path.suffix == ".csv" and looks_like_a_header(read_header(path)[0])):
        return
    for file in run.files:
        if file.stem == "system_metrics":
            yield from system_batches(read_items(file), file.name)
    yield from config_and_summary(run.config, run.summary)
    yield run.axes.batch()
    run.facts.record_count = run.facts.history_row_count = row_count
    yield run.facts.batch()


def config_and_summary(config: dict[str, Any], summary: dict[str, Any]) -> Iterator[TableBatch]:
    """The rows of `history_config` and `history_summary`."""
    for kind, values in (("config", config), ("summary", summary)):
        tree = Tree()
        for key, value in values.items():
            tree.set((storable(key),), json.dumps(value))
        yield f"history_{kind}", tree.batch(f"{kind}_key")[0]


def read_items(path: Path) -> Iterator[Items | TableBatch]:
    """The rows of an export of any kind, and the quarantine of what can't be read."""
    if path.suffix != ".csv":
        yield from read_json_items(path)
        return
    names, line_count = read_header(path)
    if not looks_like_a_header(names):
        yield quarantine("line 1", "no header: the first line names no column" if names else "the file is empty")
        return
    faulty = faulty_columns(names)
    for fault in faulty.values():
        yield quarantine("line 1", fault)
    kept = {at: name for at, name in enumerate(names) if at not in faulty}
    for block in read_blocks(path, len(names), line_count):
        if isinstance(block, tuple):
            yield block
        else:
            items, faults = block_items(block, kept)
            yield items
            yield from faults


def to_columns(rows: Items) -> tuple[Columns, list[TableBatch]]:
    """The columns of some rows, and the quarantine of keys that one row holds twice."""
    found = columns(rows.rows, rows.keys, rows.texts, rows.special)
    return found, [quarantine(f"line {rows.numbers[repeat.row]}", repeat.reason("row")) for repeat in found.repeats]


def system_batches(found_rows: Iterable[Items | TableBatch], holder: str) -> Iterator[TableBatch]:
    """The rows of `history_system_values`; `holder` is what holds the samples, for the quarantine."""
    sample_count = 0
    for rows in found_rows:
        if not isinstance(rows, Items):
            table, batch = rows
            reasons = [f"{holder}: {reason}" for reason in batch.column("reason").to_pylist()]
            yield table, batch.set_column(batch.schema.get_field_index("reason"), "reason", pa.array(reasons))
            continue
        found, faults = to_columns(rows)
        count = len(rows.numbers)
        clock = next(
            (key for key in ("_timestamp", "timestamp") if found.first_of(key, count)[0].null_count < count), ""
        )
        logged_at = logged_times(*found.first_of(clock, count))
        is_metric = pa.array(found.codes != found.metric.dictionary.index(clock).as_py())
        at = pa.array(np.flatnonzero(is_metric))
        kept = found._replace(
            rows=found.rows[at.to_numpy()],
            codes=found.codes[at.to_numpy()],
            metric=found.metric.take(at),
            key_path=found.key_path.take(at),
            value=found.value.take(at),
            value_text=found.value_text.take(at),
        )
        yield system_table(kept, pa.array(rows.numbers), logged_at, sample_count)
        yield from faults
        sample_count += count
