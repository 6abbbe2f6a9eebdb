"""The reader of `.wandb` transaction logs, SDK 0.10 to 0.31: runs, config, summary, history, system metrics."""

import hashlib
from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path

from google.protobuf.message import DecodeError

from homes.landing import Source, TableBatch, quarantine
from homes.names import file_stem, short_digest
from ingest.formats.framing import Found, LogHeader, Lost, looks_like_a_log, records
from ingest.formats.values import as_time
from ingest.history.tables import LogFacts
from ingest.history.tree import Tree
from ingest.run import file_digest
from ingest.wandb.axes import Axes
from ingest.wandb.batches import Batch, history_batches, last_summary_records, system_batch
from ingest.wandb.proto import message

LOG = LogHeader("W&B log", b":W&B", 0xBEE1, 0)
_BATCH_BYTES = 2_000_000  # small enough to stay in the cache
_BATCH_RECORDS = 20_000
_HISTORY, _SUMMARY, _STATS = 0x12, 0x1A, 0x3A
_UNREAD = frozenset({0x22, 0x32, 0x42, 0x4A, 0x52, 0x6A})
"""First bytes of records Seamline does not read: output, files, artifact, tbrecord, alert, output_raw."""


def log_source(path: Path) -> Source:
    """The source that is one log, named by its run and its first run record: moving or growing changes neither."""
    size = path.stat().st_size
    digest = file_digest(path)
    if looks_like_a_log(path, LOG):
        for record in records(path, LOG):
            if isinstance(record, Found) and (run := _run_record(record.payload)):
                start = hashlib.sha256(record.payload).hexdigest()[:8]
                return Source("wandb", f"{file_stem(run.run_id)}-{start}", str(path), digest, size)
    return Source("wandb", f"norun-{short_digest(str(path))}", str(path), digest, size)


def _run_record(payload: bytes):
    if _first_tag(payload) in (_HISTORY, _SUMMARY, _STATS, *_UNREAD):
        return None
    try:
        record = message("Record").FromString(payload)
    except DecodeError:
        return None
    return record.run if record.HasField("run") else None


def _first_tag(payload: bytes) -> int:
    """The first byte after the record number: the type of most records, without parsing them."""
    at = 0
    if payload[:1] == b"\x08":
        at = 1
        while at < len(payload) and payload[at] > 127:
            at += 1
        at += 1
    return payload[at] if at < len(payload) else 0


def read_log(source: Source) -> Iterator[TableBatch]:
    """The rows of one log. What is damaged is quarantined by its byte offset; all that is whole lands."""
    path = Path(source.path)
    if not looks_like_a_log(path, LOG):
        yield quarantine("byte 0", "not a W&B log: no W&B file header and no whole record in the first block")
        return
    reader = _Reader()
    for record in records(path, LOG):
        if rows := reader.add(record):
            yield from rows
    yield from reader.finish()


class _Reader:
    """What one pass over a log gathers: batches of records to convert at once, and the log's own facts."""

    def __init__(self) -> None:
        self.facts = LogFacts("wandb", has_exit_record=False)
        self.config, self.summary, self.axes = Tree(), Tree(), Axes()
        self.pending = {_HISTORY: Batch(), _SUMMARY: Batch(), _STATS: Batch()}
        self.sample_count = 0

    def add(self, record: Found | Lost) -> Iterable[TableBatch]:
        """Take in one record; the rows that are now ready."""
        if isinstance(record, Lost):
            if record.is_tail:
                self.facts.lost_tail_bytes = record.end - record.offset
            return [quarantine(f"byte {record.offset}", f"{record.reason} in {record.end - record.offset} bytes")]
        self.facts.record_count += 1
        tag = _first_tag(record.payload)
        if tag in _UNREAD:
            return ()
        if tag not in self.pending:
            try:
                tag = self._read_fact(message("Record").FromString(record.payload))
            except DecodeError:
                return [_no_message(record)]
            if not tag:
                return ()
        batch = self.pending[tag]
        batch.add(record)
        return self._flush(tag) if batch.byte_count >= _BATCH_BYTES or len(batch.found) >= _BATCH_RECORDS else ()

    def finish(self) -> Iterator[TableBatch]:
        for tag in self.pending:
            yield from self._flush(tag)
        for table, column, tree in (
            ("history_config", "config_key", self.config),
            ("history_summary", "summary_key", self.summary),
        ):
            rows, shared = tree.batch(column)
            yield table, rows
            for key in shared:
                reason = f"{column} {key!r} names two keys, one dotted and one nested: the last landed"
                yield quarantine("byte 0", reason)
        yield self.axes.batch()
        yield self.facts.batch()

    def _flush(self, tag: int) -> Iterator[TableBatch]:
        batch, self.pending[tag] = self.pending[tag], Batch()
        if not batch.found:
            return
        if tag == _HISTORY:
            yield from history_batches(batch, self.facts.history_row_count)
            self.facts.history_row_count += len(batch.found)
        elif tag == _STATS:
            yield system_batch(batch, self.sample_count)
            self.sample_count += len(batch.found)
        else:
            for found in last_summary_records(batch):
                try:
                    self._update(self.summary, message("Record").FromString(found.payload).summary)
                except DecodeError:
                    yield _no_message(found)
        yield from batch.quarantined

    def _read_fact(self, record) -> int:
        """Take in a record that is none of the frequent ones; else its tag, for a frequent one in unusual order."""
        facts = self.facts
        if record.HasField("run"):
            run = record.run
            facts.run_name = run.display_name or facts.run_name
            for name in ("run_id", "entity", "project", "run_group", "job_type"):
                setattr(facts, name, getattr(run, name) or getattr(facts, name))
            if run.HasField("start_time"):
                facts.started_at = _time(run.start_time) or facts.started_at
            self._update(self.config, run.config)
            self._update(self.summary, run.summary)
            facts.writer_version = facts.writer_version or run.telemetry.cli_version or None
        elif record.HasField("exit"):
            facts.has_exit_record, facts.exit_code = True, record.exit.exit_code
        elif record.HasField("config"):
            self._update(self.config, record.config)
        elif record.HasField("metric"):
            metric = record.metric
            self.axes.add(metric.name, metric.glob_name, metric.step_metric, metric.step_metric_index)
        elif record.HasField("header"):
            facts.writer_version = record.header.version_info.producer.split("+")[0] or None
        elif record.HasField("telemetry"):
            facts.writer_version = facts.writer_version or record.telemetry.cli_version or None
        fields = {"history": _HISTORY, "summary": _SUMMARY, "stats": _STATS}
        return next((tag for name, tag in fields.items() if record.HasField(name)), 0)

    @staticmethod
    def _update(tree: Tree, updates) -> None:
        for item in updates.update:
            tree.set(tuple(item.nested_key) or (item.key,), item.value_json)
        for item in updates.remove:
            tree.remove(tuple(item.nested_key) or (item.key,))


def _no_message(record: Found) -> TableBatch:
    return quarantine(f"byte {record.offset}", "a record that is no W&B protobuf message")


def _time(stamp) -> datetime | None:
    moment = as_time(stamp.seconds)
    return moment.replace(microsecond=stamp.nanos // 1000) if moment and 0 <= stamp.nanos < 10**9 else None
