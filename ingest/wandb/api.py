"""`seamline ingest wandb ENTITY/PROJECT[/RUN]`: the runs of a W&B project, over the API.

A run whose counters on the server are those of its last landing is not read again, unless it came incomplete.

Absent and null: a Parquet row of the API holds every key of the run, null where the row logged none, and nothing tells
that from a null that was logged. Over the API every null is therefore taken for absent.
"""

import hashlib
import json
import math
import re
from collections.abc import Generator, Iterator
from dataclasses import dataclass, fields
from functools import partial
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from homes.console import warn
from homes.errors import SourceError
from homes.landing import Source, TableBatch, is_outdated, land, landed
from homes.names import file_stem, short_digest
from homes.paths import Home
from homes.schema import landing_tables
from ingest.formats.values import as_time
from ingest.history.tables import LogFacts, history_tables
from ingest.run import Outcome, in_own_process, ingest
from ingest.wandb.axes import Axes
from ingest.wandb.client import (
    SYSTEM_SAMPLES,
    ListedRun,
    attribute,
    client_environment,
    explained_failures,
    list_runs,
    open_run,
    read_with_timeout,
)
from ingest.wandb.csv_items import Items
from ingest.wandb.export import config_and_summary, system_batches, to_columns
from ingest.wandb.json_items import JsonRow, batch_rows

TARGET = re.compile(r"(?!\.{1,2}/)([\w.-]+)/([\w.-]+)(?:/([\w.-]+))?")
"""ENTITY/PROJECT[/RUN]."""


@dataclass(frozen=True)
class Choice:
    """Which runs of a project to read, and how long to wait for one that sends nothing."""

    group: str | None = None
    since: str | None = None
    run_ids: tuple[str, ...] = ()
    timeout_seconds: float = 600.0

    def filters(self) -> dict[str, Any]:
        """The choice in the API's own words."""
        found: dict[str, Any] = {}
        if self.group is not None:
            found["group"] = self.group
        if self.since is not None:
            found["createdAt"] = {"$gte": self.since}
        if self.run_ids:
            found["name"] = {"$in": list(self.run_ids)}
        return found


def ingest_project(home: Home, target: str, choice: Choice, workers: int | None = None) -> Outcome:
    """Land the chosen runs of ENTITY/PROJECT[/RUN], and the project's listing: which of them are on the server.

    Raises SourceError where W&B has no such project or run, does not let it be read, or keeps failing.
    """
    entity, project, run_id = TARGET.fullmatch(target).groups()  # type: ignore[union-attr]
    if run_id:
        choice = Choice(run_ids=(run_id,), timeout_seconds=choice.timeout_seconds)
    with client_environment():
        # In a process of its own: workers are forked, and the client's threads must not be there yet.
        listed = in_own_process(list_runs, entity, project, choice.filters())
        known = _landed_runs(home, entity, project)
        if not listed and not known:
            raise SourceError(f"{target}: W&B lists no such run; check the name, and what you filter by")
        runs = {run.path: run for run in listed}
        read = partial(_read, runs=runs, timeout_seconds=choice.timeout_seconds)
        outcome = ingest(home, "wandb", listed, _identify, read, workers)
    _land_listing(home, entity, project, listed, _missing_runs(choice, listed, known))
    return outcome


def _identify(run: ListedRun) -> Source:
    counters = [getattr(run, field.name) for field in fields(run)]
    digest = hashlib.sha256(repr(counters).encode("utf-8", "backslashreplace")).hexdigest()
    name = f"{file_stem(run.run_id)}-api-{short_digest(f'{run.entity}/{run.project}')}"
    return Source("wandb", name, run.path, digest, 0)


@dataclass
class _Scan:
    """What came of one history. Seen steps are kept by a digest of their row, 8 bytes each and their step."""

    received: int = 0
    duplicates: int = 0
    repeats: int = 0

    def rows(self, scanned: Iterator[dict[str, Any]]) -> Iterator[JsonRow]:
        """Each row once, as `batch_rows` takes them: W&B's client joins Parquet and live rows as they come."""
        seen: dict[int, int] = {}
        for row in scanned:
            self.received += 1
            row = _without_nulls(row)
            step, digest = row.get("_step"), hash(json.dumps(row, sort_keys=True))
            if step in seen:
                if seen[step] == digest:
                    self.duplicates += 1
                    continue
                self.repeats += 1
            elif isinstance(step, int):
                seen[step] = digest
            number = self.received
            yield number, f"line {number}", row, None


def _without_nulls(row: dict[str, Any]) -> dict[str, Any]:
    """The row without what is absent (see above), inside nested keys too."""
    found = {}
    for key, value in row.items():
        if isinstance(value, dict) and value and "_type" not in value:
            value = _without_nulls(value) or None
        if isinstance(value, float) and not math.isfinite(value):
            value = "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"  # as live rows spell it
        if value is not None:
            found[key] = value
    return found


def _json_text(value: object) -> str:
    """JSON text as it is in a log of SDK 0.18 and later; the client hands over an object's keys in any order."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_json_text(key)}: {_json_text(value[key])}" for key in sorted(value)) + "}"
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    try:
        text.encode()
    except UnicodeEncodeError:  # half a surrogate pair
        return json.dumps(value, separators=(",", ":"))
    return text


def _read(
    source: Source, runs: dict[str, ListedRun], timeout_seconds: float
) -> Generator[TableBatch, None, str | None]:
    listed = runs[source.path]
    run = open_run(source.path)
    before = attribute(run, "historyLineCount")
    last_step = (attribute(run, "historyKeys") or {}).get("lastStep", -1)
    scan, row_count = _Scan(), 0
    found = read_with_timeout(lambda: run.scan_history(use_cache=False), timeout_seconds, source.path)
    for items in batch_rows(scan.rows(found), _json_text):
        if not isinstance(items, Items):
            yield items
            continue
        columns, faults = to_columns(items)
        yield from history_tables(columns, pa.array(items.numbers), row_count)
        yield from faults
        row_count += len(items.numbers)
    samples = read_with_timeout(
        lambda: run.history(samples=SYSTEM_SAMPLES, stream="system", pandas=False), timeout_seconds, source.path
    )
    yield from system_batches(batch_rows(_samples(samples)), "system metrics")
    with explained_failures(source.path):
        yield from config_and_summary(run.config, attribute(run, "summaryMetrics") or {})
        axes = Axes()
        axes.add_config(run.rawconfig)
        yield axes.batch()
        run.load_full_data(force=True)
    facts = LogFacts(
        producer="wandb",
        run_id=listed.run_id,
        source_kind="api",
        run_name=listed.display_name,
        entity=listed.entity,
        project=listed.project,
        run_group=listed.group,
        job_type=attribute(run, "jobType"),
        started_at=as_time(listed.created_at),
        state=listed.state,
        record_count=scan.received,
        history_row_count=row_count,
    )
    yield facts.batch()
    counts = {
        "history_line_count": before,
        "history_line_count_after": attribute(run, "historyLineCount"),
        "last_step_idx": last_step if last_step >= 0 else None,
        "received_row_count": scan.received,
        "duplicate_row_count": scan.duplicates,
        "repeated_step_row_count": scan.repeats,
    }
    schema = pa.schema([(name, pa.int64()) for name in counts])
    yield "history_server_reads", pa.RecordBatch.from_pylist([counts], schema)
    if before is not None and row_count < before:
        warn(f"{source.path}: {row_count} of {before} history rows came; the next ingest reads it again")
        return f"incomplete {source.digest}"
    return None


def _samples(samples: Iterator[dict[str, Any]]) -> Iterator[JsonRow]:
    for number, row in enumerate(samples, 1):
        kept = {key: value for key, value in row.items() if key == "_timestamp" or not key.startswith("_")}
        yield number, f"line {number}", _without_nulls(kept), None


def _landed_runs(home: Home, entity: str, project: str) -> set[str]:
    """Runs of a project that landed over the API; the path of every other source is a file's, and absolute."""
    prefix = f"{entity}/{project}/"
    return {s.path.removeprefix(prefix) for s in landed(home).values() if s.path.startswith(prefix)}


def _missing_runs(choice: Choice, listed: list[ListedRun], known: set[str]) -> set[str]:
    """Landed runs that the listing should hold and does not. A listing by group or time leaves others out rightly."""
    if choice.group is not None or choice.since is not None:
        return set()
    asked = known & set(choice.run_ids) if choice.run_ids else known
    return asked - {run.run_id for run in listed}


def _land_listing(home: Home, entity: str, project: str, listed: list[ListedRun], gone: set[str]) -> None:
    """Land what the server lists; runs that this listing leaves out stay as an earlier one listed them."""
    name = f"{file_stem(project)}-listing-{short_digest(f'{entity}/{project}')}"
    file = home.table("history_server_runs") / f"{name}.parquet"
    earlier = pq.read_table(file, partitioning=None).drop_columns("source_name").to_pylist() if file.exists() else []
    rows = {row["run_id"]: row for row in earlier}
    for run in listed:
        rows[run.run_id] = _row(run)
    for run_id in sorted(gone):
        row = rows.get(run_id) or _row(ListedRun(entity, project, run_id))
        if not row["is_deleted"]:
            warn(f"{entity}/{project}/{run_id}: gone from W&B; its landed rows stay")
        rows[run_id] = row | {"is_deleted": True}
    kept = [rows[run_id] for run_id in sorted(rows)]
    digest = hashlib.sha256(repr(kept).encode("utf-8", "backslashreplace")).hexdigest()
    source = Source("wandb", name, f"{entity}/{project}", digest, 0)
    before = landed(home).get(name)
    if before is None or is_outdated(home, before) or before.digest != digest:
        types = pa.schema([field for field in landing_tables()["history_server_runs"].schema if field.name in kept[0]])
        land(home, source, [("history_server_runs", pa.RecordBatch.from_pylist(kept, types))])


def _row(run: ListedRun) -> dict[str, Any]:
    return {
        "entity": run.entity,
        "project": run.project,
        "run_id": run.run_id,
        "state": run.state,
        "history_line_count": run.history_line_count,
        "is_deleted": False,
    }
