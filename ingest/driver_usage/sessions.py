"""Reader of agent session logs: what each said it had spent, and when.

Formats, as public readers of them describe: Codex CLI (`event_msg` lines with `payload.type = token_count`, whose
`info.total_token_usage` is a running total that is repeated on every refresh, and replayed at the head of a session
that was forked from another), Claude Code (one line per content block, each with the whole `message.usage` of its
call), and a plain form of increments.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from homes.landing import Batches, Source, quarantine
from homes.names import file_stem, short_digest
from homes.paths import Home
from ingest.checkpoints.places import cell_name, is_cell
from ingest.formats.heads import may_hold
from ingest.formats.json_values import json_object
from ingest.formats.lines import text_lines
from ingest.formats.rows import quarantine_line, rows_to_batches
from ingest.formats.values import Unreadable, as_name, checked_count, checked_time
from ingest.run import Outcome, expand, file_digest, ingest

KIND = "driver-usage"
_TELLTALES = (b"token_count", b"session_meta", b"input_tokens", b"output_tokens")
_SESSION_KEYS = {"type", "payload", "message", "timestamp", "sessionId", "session_id"}
"""What a session says in lines that report no tokens."""
_BATCH = 100_000


def ingest_driver_usage(home: Home, paths: Iterable[str]) -> Outcome:
    """Land every session log below `paths`; a file given by name is taken as one."""
    return ingest(home, KIND, expand(paths, "<cell>/driver/*.jsonl", is_session_log), identify, read)


def is_session_log(path: Path) -> bool:
    """Whether a file lies where agent session logs do, `<cell>/driver/**/*.jsonl`, in a cell or reporting tokens."""
    folder = _driver_folder(path)
    if path.suffix != ".jsonl" or folder is None:
        return False
    if is_cell(folder.parent) and may_hold(path, _SESSION_KEYS):
        return True
    return any(_has_telltale(raw) for _, raw in text_lines(path))


def identify(path: Path) -> Source:
    """The session log at `path`: known by its cell, name and first line, so that a copy or a longer one replaces it."""
    folder = _driver_folder(path)
    cell = cell_name(folder.parent) if folder else path.parent.name
    first = next((raw for _, raw in text_lines(path)), b"")
    name = f"{file_stem(cell)}-{file_stem(path.stem)}-{short_digest(f'{KIND}:{cell}:{path.name}:{first!r}')}"
    return Source(KIND, name, str(path), file_digest(path), path.stat().st_size)


def _driver_folder(path: Path) -> Path | None:
    return next((parent for parent in path.parents if parent.name == "driver"), None)


def read(source: Source) -> Batches:
    """Rows of driver_usage; a line that can't be read is quarantined, a line that reports no tokens is passed over."""
    path = Path(source.path)
    folder = _driver_folder(path)
    cell = cell_name(folder.parent) if folder else path.parent.name
    rows: list[dict[str, Any]] = []
    session: dict[str, str | None] = {"session_id": None, "parent_session_id": None}
    has_report = False
    for line, raw in text_lines(path):
        try:
            if isinstance(raw, Unreadable):
                raise raw
            if not _has_telltale(raw):
                if not raw.endswith(b"}"):
                    raise Unreadable("cut or not a JSON object")
                continue
            row = _token_report(_object(raw), session)
        except Unreadable as problem:
            yield quarantine_line(line.number, problem)
            continue
        if row:
            rows.append({"cell": cell, "line_number": line.number} | row)
            has_report = True
        if len(rows) >= _BATCH:
            yield from rows_to_batches({"driver_usage": rows})
            rows = []
    yield from rows_to_batches({"driver_usage": rows})
    if not has_report:
        yield quarantine("byte 0", "no token report in a known format (Codex CLI, Claude Code, plain)")


def _has_telltale(raw: bytes | Unreadable) -> bool:
    return isinstance(raw, bytes) and any(mark in raw for mark in _TELLTALES)


def _object(raw: bytes) -> dict[str, Any]:
    try:
        return json_object(raw)
    except Unreadable as problem:
        raise Unreadable(f"cut or not a JSON object ({problem})") from problem


def _token_report(record: dict[str, Any], session: dict[str, str | None]) -> dict[str, Any] | None:
    """The row for one line, or None. Session lines of Codex are remembered in `session`."""
    payload = record.get("payload")
    payload = payload if isinstance(payload, dict) else {}
    message = record.get("message")
    if record.get("type") == "session_meta":
        _remember(payload, session)
        return None
    if payload.get("type") == "token_count":
        info = payload.get("info")
        if info is None:
            return None
        return _codex(record, info) | session
    if isinstance(message, dict) and isinstance(message.get("usage"), dict):
        return _claude_code(record, message)
    if "input_tokens" in record or "output_tokens" in record:
        return _row(record, record, "plain", cached="cached_input_tokens")
    return None


def _remember(meta: dict[str, Any], session: dict[str, str | None]) -> None:
    """A session's id and that of the session it was forked from; the head of a fork repeats its parent's own line."""
    if session["session_id"] is None:
        session["session_id"] = as_name(meta.get("id")) or as_name(meta.get("session_id"))
        session["parent_session_id"] = next(_parents(meta), None)
    elif session["parent_session_id"] is None and as_name(meta.get("id")) != session["session_id"]:
        session["parent_session_id"] = as_name(meta.get("id"))


def _parents(meta: dict[str, Any]) -> Iterator[str]:
    spawn: Any = meta
    for name in ("source", "subagent", "thread_spawn"):
        spawn = spawn.get(name) if isinstance(spawn, dict) else None
    holders = [meta, spawn if isinstance(spawn, dict) else {}]
    for holder in holders:
        for name in ("forked_from_id", "parent_thread_id"):
            if found := as_name(holder.get(name)):
                yield found


def _codex(record: dict[str, Any], info: Any) -> dict[str, Any]:
    totals = info.get("total_token_usage") if isinstance(info, dict) else None
    if not isinstance(totals, dict):
        raise Unreadable("a token_count without total_token_usage")
    return _row(record, totals, "codex", cached="cached_input_tokens")


def _claude_code(record: dict[str, Any], message: dict[str, Any]) -> dict[str, Any]:
    usage = message["usage"]
    row = _row(record, usage, "claude_code", cached="cache_read_input_tokens")
    return row | {
        "session_id": as_name(record.get("sessionId")),
        "message_id": as_name(message.get("id")),
        "cache_write_tokens": checked_count(usage.get("cache_creation_input_tokens"), "cache_creation_input_tokens"),
    }


def _row(record: dict[str, Any], usage: dict[str, Any], usage_format: str, cached: str) -> dict[str, Any]:
    moment = checked_time(record.get("timestamp"), "timestamp")
    if moment is None:
        raise Unreadable("a token report without a timestamp")
    row = dict.fromkeys(("session_id", "parent_session_id", "message_id", "cache_write_tokens"))
    row |= {name: checked_count(usage.get(name), name) for name in ("input_tokens", "output_tokens")}
    if row["input_tokens"] is None and row["output_tokens"] is None:
        raise Unreadable("a token report with neither input_tokens nor output_tokens")
    return row | {
        "usage_format": usage_format,
        "logged_at": moment,
        "cached_input_tokens": checked_count(usage.get(cached), cached),
    }
