"""`seamline ingest rollouts`: open-instruct shards -> counts, runs of zero logprobs and special tokens, no decision."""

import json
import re
from collections.abc import Generator, Iterable, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa

from homes.declared import declared_rows
from homes.errors import SourceError
from homes.landing import Batches, Source, TableBatch, landed, quarantine
from homes.names import short_digest, storable
from homes.paths import Home
from ingest.formats.heads import may_hold
from ingest.formats.json_lines import read_objects
from ingest.formats.lines import DamagedFile, Line, LinesDigest, content_digest, read_lines
from ingest.formats.rows import Rows, quarantine_line, row_schema
from ingest.formats.values import Unreadable, as_text, as_time, path_number
from ingest.open_instruct.record import SCALARS, Evidence, RecordReader
from ingest.run import Cluster, Outcome, expand, file_source, ingest, source_name

KIND = "rollouts"
SHARD = re.compile(r"(?P<run_name>.+)_rollouts_(?P<shard>\d+)\.jsonl(\.gz|\.zst)?")
METADATA = re.compile(r"(?P<run_name>.+)_metadata\.jsonl(\.gz|\.zst)?")
TOKEN_COLUMNS = ("tool_call_open_id", "tool_call_close_id", "end_of_turn_id")
BATCH_RECORDS = 4096
BATCH_TOKENS = 1 << 18
"""Kept tokens are written this many at a time: 4 MB of ids and logprobs."""
UNREAD = "unread"


def is_rollout_file(path: Path) -> bool:
    """Whether a file has the name of a shard or of a run's metadata, and starts like one."""
    if SHARD.fullmatch(path.name):
        return may_hold(path, {"prompt_tokens", "response_tokens", "logprobs"})
    return METADATA.fullmatch(path.name) is not None and may_hold(path, {"run_name", "git_commit", "model_name"})


def ingest_rollouts(
    home: Home,
    paths: Iterable[str],
    keep_tokens: bool = False,
    workers: int | None = None,
    cluster: Cluster | None = None,
) -> Outcome:
    """Land every shard and metadata file below `paths`, shards in parallel over the cores, or over a cluster's.

    A shard is read again when its content or the ids in declared/tokenizers.csv changed, and when tokens are to be kept
    that were not; a shard landed with its tokens keeps them.
    """
    looked_for = "<run name>_rollouts_<number>.jsonl and <run name>_metadata.jsonl, plain, .gz or .zst"
    files = expand(paths, looked_for, is_rollout_file)
    ids = special_ids(home)
    known = {s.path: s for s in landed(home).values() if s.kind == KIND}
    identify = partial(_identify, known=known, ids=ids, keep_tokens=keep_tokens)
    return ingest(home, KIND, files, identify, partial(_read, ids=ids), workers, cluster)


def special_ids(home: Home) -> list[int]:
    """Every token id in declared/tokenizers.csv, ascending."""
    cells = (row[column] for row in declared_rows(home, "tokenizers") for column in TOKEN_COLUMNS)
    return sorted({cell for cell in cells if isinstance(cell, int)})


def _settings(ids: list[int], keep_tokens: bool) -> str:
    return short_digest(json.dumps(ids)) + ("-tokens" if keep_tokens else "")


def _identify(path: Path, known: dict[str, Source], ids: list[int], keep_tokens: bool) -> Source:
    """The source. A shard is read only once: its digest comes from the reader, unless it may be one that has landed."""
    if METADATA.fullmatch(path.name):
        return file_source(KIND, path)
    if not SHARD.fullmatch(path.name):
        raise _unnamed(path)
    path = path.resolve()
    digest = f"{UNREAD} {_settings(ids, keep_tokens)}"
    source = Source(KIND, source_name(KIND, path), str(path), digest, path.stat().st_size)
    before = known.get(source.path)
    accepted = [_settings(ids, True)] if keep_tokens else [_settings(ids, False), _settings(ids, True)]
    if before and before.size_bytes == source.size_bytes:
        content, _, settings = before.digest.partition(" ")
        if settings in accepted and content_digest(path) == content:
            return before
    return source


def _unnamed(path: Path) -> SourceError:
    return SourceError(f"{path}: its name does not tell run and shard; name it <run name>_rollouts_<number>.jsonl")


def _read(source: Source, ids: list[int]) -> Batches:
    path = Path(source.path)
    if shard := SHARD.fullmatch(path.name):
        return _read_shard(path, shard["run_name"], shard["shard"], ids, source.digest.partition(" ")[2])
    if metadata := METADATA.fullmatch(path.name):
        return _read_metadata(path, metadata["run_name"])
    raise _unnamed(path)


def _read_metadata(path: Path, run_name: str) -> Batches:
    rows = Rows("rollout_runs")
    for number, fields in read_objects(path):
        if isinstance(fields, Unreadable):
            yield quarantine_line(number, fields)
            continue
        texts = {key: as_text(value) for key, value in fields.items() if isinstance(value, str)}
        row: dict[str, object] = {name: texts.get(name) for name in ("git_commit", "model_name")}
        row |= {"run_name": texts.get("run_name") or run_name, "started_at": as_time(fields.get("timestamp"))}
        rows.add(row | {"line_number": number})
    yield from rows.last_batches()


def _read_shard(
    path: Path, run_name: str, shard: str, ids: list[int], settings: str
) -> Generator[TableBatch, None, str]:
    """The shard's evidence; returns its digest."""
    reader = RecordReader(ids, keep_tokens=settings.endswith("-tokens"))
    digest = LinesDigest()
    records = _Records(storable(run_name))
    tokens = _Tokens()
    shard_number = path_number(shard)
    if shard_number is None:
        yield quarantine("byte 0", f"shard number {shard} has more than 64 bits: its place among the shards is unknown")
    number = line_count = record_count = tolerated = unreadable = 0
    try:
        for line in read_lines(path):
            digest.add(line)
            number = line.number
            try:
                found = _read_line(reader, line)
            except Unreadable as problem:
                unreadable += 1
                line_count += 1
                yield quarantine(f"line {number}", str(problem))
                continue
            if found is None:
                continue
            line_count += 1
            record_count += 1
            tolerated += found.was_tolerated
            records.add(line, found)
            if len(records) == BATCH_RECORDS:
                yield "rollout_records", records.batch()
            if found.kept:
                tokens.add(number, found.kept)
                found.kept = None  # the evidence waits for its batch, its tokens must not
                if tokens.count >= BATCH_TOKENS:
                    yield "rollout_tokens", tokens.batch()
    except DamagedFile as damage:
        digest.end(damage)
        unreadable += 1
        line_count += 1
        yield quarantine(f"line {number + 1}", str(damage))
    yield "rollout_records", records.batch()
    yield "rollout_tokens", tokens.batch()
    row = {
        "run_name": storable(run_name),
        "shard_number": shard_number,
        "line_count": line_count,
        "record_count": record_count,
        "unreadable_line_count": unreadable,
        "tolerated_line_count": tolerated,
        "special_token_ids": ids,
    }
    yield "rollout_files", pa.RecordBatch.from_pylist([row], schema=row_schema("rollout_files"))
    return f"{digest.text()} {settings}"


def _read_line(reader: RecordReader, line: Line) -> Evidence | None:
    """None for a blank line."""
    if line.is_too_long:
        raise Unreadable("longer than 8 MiB: too long to be parsed in bounded memory")
    if line.end - line.start < 3 and not line.view().tobytes().strip():
        return None
    return reader.read(line)


class _Records:
    """Rows of rollout_records, gathered column by column."""

    def __init__(self, run_name: str) -> None:
        self._run_name = run_name
        self._clear()

    def _clear(self) -> None:
        self._scalars: list[tuple] = []
        self._lists: list[Evidence] = []

    def __len__(self) -> int:
        return len(self._scalars)

    def add(self, line: Line, found: Evidence) -> None:
        counts = (found.prompt_tokens, found.response_tokens, found.logprob_count, found.nan_logprob_count)
        self._scalars.append((line.number, line.digest().hex(), *counts, *found.scalars))
        self._lists.append(found)

    def batch(self) -> pa.RecordBatch:
        """The rows gathered since the last call."""
        counts = ("prompt_tokens", "response_tokens", "logprob_count", "nan_logprob_count")
        names = ("line_number", "record_digest", *counts, *SCALARS)
        columns = dict(zip(names, zip(*self._scalars, strict=True), strict=True)) if self._scalars else {}
        schema = row_schema("rollout_records")
        arrays = []
        for field in schema:
            if field.name == "run_name":
                arrays.append(pa.repeat(pa.scalar(self._run_name), len(self)))
            elif pa.types.is_list(field.type):
                arrays.append(_lists([getattr(found, field.name) for found in self._lists], field.type))
            else:
                arrays.append(pa.array(columns.get(field.name, ()), type=field.type))
        self._clear()
        return pa.RecordBatch.from_arrays(arrays, schema=schema)


class _Tokens:
    """Rows of rollout_tokens."""

    def __init__(self) -> None:
        self.count = 0
        self._rows: list[tuple] = []

    def add(self, line_number: int, kept: tuple) -> None:
        self._rows.append((line_number, *kept))
        self.count += len(kept[1])

    def batch(self) -> pa.RecordBatch:
        """The rows gathered since the last call."""
        schema = row_schema("rollout_tokens")
        columns = list(zip(*self._rows, strict=True)) or [()] * len(schema)
        self._rows, self.count = [], 0
        arrays = [
            _lists(column, field.type) if pa.types.is_list(field.type) else pa.array(column, type=field.type)
            for column, field in zip(columns, schema, strict=True)
        ]
        return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _lists(parts: Sequence[np.ndarray | list | None], type_: pa.ListType) -> pa.ListArray:
    """One list a row; None is a null list."""
    offsets = np.concatenate([[0], np.cumsum([0 if p is None else len(p) for p in parts])]).astype(np.int32)
    known = [p for p in parts if p is not None]
    if all(isinstance(p, np.ndarray) for p in known):  # one cast for all rows: casts are slow to start
        values = pa.array(np.concatenate([np.array([], dtype=np.int64), *known])).cast(type_.value_type)
    else:
        values = pa.concat_arrays([pa.array(p, type=type_.value_type) for p in known])
    is_null = pa.array([p is None for p in parts], type=pa.bool_())
    return pa.ListArray.from_arrays(pa.array(offsets), values, mask=is_null)
