"""Exported W&B histories: `history.csv`, `.json` or `.jsonl`, and what lies beside them.

`run.json` names the run (and may hold name, state, arm, config, summary); `config.json`, `summary.json` and
`system_metrics.csv|json|jsonl` belong to the history in the same folder.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from homes.landing import Source, quarantine
from homes.names import file_stem, short_digest
from ingest.history.tables import LogFacts, Rows, history_tables, iso_seconds, system_table, times
from ingest.history.tree import Tree
from ingest.history.values import Columns, columns
from ingest.run import file_digest
from ingest.wandb.axes import Axes
from ingest.wandb.csv_items import Items, blocks, faulty_columns, header, looks_like_a_header, melt
from ingest.wandb.json_items import rows_of

SUFFIXES = (".csv", ".json", ".jsonl")
HISTORIES = ("history", "history_scan_raw")
BESIDE = ("run", "config", "summary", "system_metrics")
"""Stems of files that are read with a history, and are none."""

_NAMELESS = re.compile(r"history|history_scan_raw|export|data|metrics|rows|runs?|logs?|output|wandb(_export.*)?", re.I)
"""Stems that tell nothing about the run."""


@dataclass
class Told:
    """What the files around an exported history tell about its run, and what of them can't be read."""

    facts: LogFacts
    files: list[Path]
    config: dict[str, Any] = field(default_factory=dict)
    summary: dict[str, Any] = field(default_factory=dict)
    axes: Axes = field(default_factory=Axes)
    faults: list[str] = field(default_factory=list)


def export_source(path: Path, run_id: str | None) -> Source:
    """The source that is one exported history, named by its run: of several exports of one run the largest counts."""
    told = tell(path, run_id)
    content = [file_digest(file) for file in told.files] + [f"{told.facts.run_id} {told.facts.arm_in_path}"]
    digest = hashlib.sha256("\n".join(content).encode("utf-8", "surrogatepass")).hexdigest()
    if told.facts.run_id is None:
        return Source("wandb", f"norun-{short_digest(str(path))}", str(path), digest, path.stat().st_size)
    arm = f"-{short_digest(told.facts.arm_in_path)}" if told.facts.arm_in_path else ""
    return Source("wandb", f"{file_stem(told.facts.run_id)}-export{arm}", str(path), digest, path.stat().st_size)


def tell(path: Path, run_id: str | None) -> Told:
    """The run of an exported history: `run_id` where given, else run.json's, by-run/<arm>/<run_id>, the file's stem.

    The run id stays None where none of them tells.
    """
    told = Told(LogFacts("wandb", source_kind="export"), [path])
    others = [file for file in path.parent.iterdir() if file.suffix in SUFFIXES and file.stem not in BESIDE]
    is_nameless = _NAMELESS.fullmatch(path.stem) is not None
    is_alone = is_nameless or {file.stem for file in others} <= {path.stem}
    note = _object(path.parent / "run.json", told)
    noted_id = _noted_id(note)
    if noted_id and (is_alone or noted_id == path.stem):
        _take_note(told, note, noted_id)
        is_alone = True
    elif path.parent.parent.name == "by-run":
        told.facts.run_id, told.facts.arm_in_path = path.stem, path.parent.name
    elif not is_nameless:
        told.facts.run_id = path.stem
    told.facts.run_id = run_id or told.facts.run_id
    if is_alone:
        told.files += [f for name in BESIDE for s in SUFFIXES if (f := path.parent / f"{name}{s}").is_file()]
        if not told.config:
            _take_config(told, _object(path.parent / "config.json", told))
        told.summary = told.summary or _object(path.parent / "summary.json", told)
    return told


def _take_note(told: Told, note: dict[str, Any], noted_id: str) -> None:
    """Take over what run.json says, in the words of the client (`name`) or of the API (`displayName`)."""
    facts = told.facts
    facts.run_id = noted_id
    facts.run_name = _text(note.get("displayName") or note.get("display_name") or note.get("name"))
    for name, keys in {
        "arm_in_path": ("arm",),
        "state": ("state",),
        "entity": ("entity",),
        "project": ("project",),
        "run_group": ("group", "run_group"),
        "job_type": ("jobType", "job_type"),
    }.items():
        setattr(facts, name, next((text for key in keys if (text := _text(note.get(key)))), None))
    for key in ("started_at", "startedAt", "start_time", "created_at", "createdAt"):
        seconds = note.get(key)
        seconds = iso_seconds(seconds) if isinstance(seconds, str) else seconds
        if isinstance(seconds, (int, float)) and 0 < seconds < 1e11:
            facts.started_at = datetime.fromtimestamp(seconds, UTC).replace(tzinfo=None)
            break
    _take_config(told, _nested(note.get("config")))
    told.summary = _nested(note.get("summary") or note.get("summaryMetrics"))


def _noted_id(note: dict[str, Any]) -> str | None:
    is_api = "displayName" in note and note.get("name")  # there `id` is the API's own, `name` the run's
    return _text(note.get("run_id") or (note["name"] if is_api else note.get("id")))


def _object(path: Path, told: Told) -> dict[str, Any]:
    """The JSON object in a file; empty where there is no file, or (a fault) no object in it."""
    if not path.is_file():
        return {}
    try:
        value = json.loads(path.read_bytes())
        if isinstance(value, dict):
            return value
        told.faults.append(f"{path.name} holds no JSON object")
    except (ValueError, RecursionError) as error:
        told.faults.append(f"{path.name} is not JSON: {error}")
    return {}


def _nested(value: object) -> dict[str, Any]:
    """A dict, or one that the API wrapped as JSON text."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return {}
    return value if isinstance(value, dict) else {}


def _take_config(told: Told, config: dict[str, Any]) -> None:
    told.axes.add_config(config)
    told.config = _plain_config(config)


def _plain_config(config: dict[str, Any]) -> dict[str, Any]:
    """The config without the `{"value": ..., "desc": ...}` around each value that W&B's files have."""
    own = {key: value for key, value in config.items() if key not in ("_wandb", "wandb_version")}
    if own and all(isinstance(v, dict) and "value" in v and set(v) <= {"value", "desc"} for v in own.values()):
        return {key: value["value"] for key, value in own.items()}
    return config


def _text(value: object) -> str | None:
    if isinstance(value, dict):
        value = value.get("name")
    return str(value) if isinstance(value, (str, int)) and not isinstance(value, bool) and value != "" else None


def read_export(source: Source, run_id: str | None) -> Iterator[Rows]:
    """The rows of one exported history, its config, summary and system metrics."""
    path = Path(source.path)
    told = tell(path, run_id)
    for fault in told.faults:
        yield quarantine("line 1", fault)
    if told.facts.run_id is None:
        yield quarantine(
            "line 1", "which run this is can't be told: put a run.json beside it, or name it with --run-id"
        )
        return
    row_count, is_read = 0, False
    for rows in items_of(path):
        if isinstance(rows, Items):
            is_read = True
            found, faults = convert(rows)
            yield from history_tables(found, pa.array(rows.numbers), row_count)
            yield from faults
            row_count += len(rows.numbers)
        else:
            yield rows
    if not is_read and not (path.suffix == ".csv" and looks_like_a_header(header(path)[0])):
        return
    for file in told.files:
        if file.stem == "system_metrics":
            yield from system_metrics(items_of(file), file.name)
    yield from settings(told.config, told.summary)
    yield told.axes.batch()
    told.facts.record_count = told.facts.history_row_count = row_count
    yield told.facts.batch()


def settings(config: dict[str, Any], summary: dict[str, Any]) -> Iterator[Rows]:
    """The rows of `history_config` and `history_summary`."""
    for kind, values in (("config", config), ("summary", summary)):
        tree = Tree()
        for key, value in values.items():
            tree.set((key.encode("utf-8", "backslashreplace").decode(),), json.dumps(value))
        yield f"history_{kind}", tree.batch(f"{kind}_key")[0]


def items_of(path: Path) -> Iterator[Items | Rows]:
    """The rows of an export of any kind, and the quarantine of what can't be read."""
    if path.suffix != ".csv":
        yield from rows_of(path)
        return
    names, line_count = header(path)
    if not looks_like_a_header(names):
        yield quarantine("line 1", "no header: the first line names no column" if names else "the file is empty")
        return
    faulty = faulty_columns(names)
    for fault in faulty.values():
        yield quarantine("line 1", fault)
    kept = {at: name for at, name in enumerate(names) if at not in faulty}
    for block in blocks(path, len(names), line_count):
        if isinstance(block, tuple):
            yield block
        else:
            items, faults = melt(block, kept)
            yield items
            yield from faults


def convert(rows: Items) -> tuple[Columns, list[Rows]]:
    """The columns of some rows, and the quarantine of keys that one row holds twice."""
    found = columns(rows.rows, rows.keys, rows.texts, rows.special)
    return found, [quarantine(f"line {rows.numbers[repeat.row]}", repeat.reason("row")) for repeat in found.repeats]


def system_metrics(found_rows: Iterable[Items | Rows], holder: str) -> Iterator[Rows]:
    """The rows of `history_system_values`; `holder` is what holds the samples, for the quarantine."""
    sample_count = 0
    for rows in found_rows:
        if not isinstance(rows, Items):
            table, batch = rows
            reasons = [f"{holder}: {reason}" for reason in batch.column("reason").to_pylist()]
            yield table, batch.set_column(batch.schema.get_field_index("reason"), "reason", pa.array(reasons))
            continue
        found, faults = convert(rows)
        count = len(rows.numbers)
        clock = next(
            (key for key in ("_timestamp", "timestamp") if found.first_of(key, count)[0].null_count < count), ""
        )
        logged_at = times(*found.first_of(clock, count))
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
