"""What one record of an agent's log says about tokens: the forms that are known, a function each.

Formats: Codex CLI's session files (`event_msg` lines with `payload.type = token_count`: `info.total_token_usage` is a
running total that is repeated on every refresh, `last_token_usage` what the last call took), `codex exec --json`
(`turn.completed` with the running total of its thread, no time), Claude Code's session files (one line per content
block, each with the whole `message.usage` of its call), `claude -p --output-format json` and `stream-json` (a `result`
with `usage` of its main agent and `modelUsage` of all its models, no time), and a plain form of increments.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ingest.formats.json_values import object_items
from ingest.formats.values import Unreadable, as_name, as_time, checked_count, checked_time

Record = dict[str, Any]
_COUNTS = ("input_tokens", "cached_input_tokens", "cache_write_tokens", "output_tokens")
_CLAUDE_KEYS = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens")
_MODEL_KEYS = ("inputTokens", "cacheReadInputTokens", "cacheCreationInputTokens", "outputTokens")
_CODEX_KEYS = ("input_tokens", "cached_input_tokens", None, "output_tokens")
_LAST = tuple(f"last_{name}" for name in _COUNTS)


@dataclass
class Session:
    """The session that a log's lines belong to, and the one that it was forked from."""

    session_id: str | None = None
    parent_session_id: str | None = None
    started_at: datetime | None = None
    """When its first line was written: a fork writes its parent's history right behind that."""


def token_report(record: Record, session: Session) -> Record | None:
    """The columns of one record's report, or None where it holds none. What a record says of its session is
    remembered. Raises Unreadable for a report that can't be read."""
    kind = record.get("type")
    payload = object_items(record.get("payload"))
    message = object_items(record.get("message"))
    if kind == "session_meta":
        _remember(record, payload, session)
        return None
    if kind == "thread.started":
        session.session_id = as_name(record.get("thread_id"))
        return None
    if payload.get("type") == "token_count":
        return None if payload.get("info") is None else _codex(record, payload["info"], session)
    if kind == "turn.completed" and isinstance(record.get("usage"), dict):
        counts = _counts(record["usage"], _CODEX_KEYS)
        return {"usage_format": "codex_exec", "session_id": session.session_id, "logged_at": _time(record)} | counts
    if kind == "result" and isinstance(record.get("usage"), dict):
        return _claude_result(record, record["usage"])
    if isinstance(message.get("usage"), dict):
        return _claude_code(record, message)
    if "input_tokens" in record or "output_tokens" in record:
        counts = _counts(record, _CODEX_KEYS)
        return {"usage_format": "plain", "logged_at": _known_time(record)} | counts
    return None


def _remember(record: Record, meta: Record, session: Session) -> None:
    """A session's id and that of the session it was forked from; the head of a fork repeats its parent's own line."""
    if session.session_id is None:
        session.session_id = as_name(meta.get("id")) or as_name(meta.get("session_id"))
        session.parent_session_id = next(_parents(meta), None)
        session.started_at = as_time(record.get("timestamp")) or as_time(meta.get("timestamp"))
    elif session.parent_session_id is None and as_name(meta.get("id")) != session.session_id:
        session.parent_session_id = as_name(meta.get("id"))


def _parents(meta: Record) -> Iterator[str]:
    spawn: Any = meta
    for name in ("source", "subagent", "thread_spawn"):
        spawn = object_items(spawn).get(name)
    for holder in (meta, object_items(spawn)):
        for name in ("forked_from_id", "parent_thread_id"):
            if found := as_name(holder.get(name)):
                yield found


def _codex(record: Record, info: Any, session: Session) -> Record:
    totals = object_items(info).get("total_token_usage")
    if not isinstance(totals, dict):
        raise Unreadable("a token_count without total_token_usage")
    counts = _counts(totals, _CODEX_KEYS)
    last = object_items(object_items(info).get("last_token_usage"))
    return {
        "usage_format": "codex",
        "session_id": session.session_id,
        "parent_session_id": session.parent_session_id,
        "session_started_at": session.started_at,
        "logged_at": _known_time(record),
        **counts,
        **_last(last, _CODEX_KEYS),
    }


def _claude_code(record: Record, message: Record) -> Record:
    """A line of a session file, or, without a time, of a stream that `claude -p` printed."""
    is_printed = "session_id" in record and "timestamp" not in record
    return {
        "usage_format": "claude_code",
        "session_id": as_name(record.get("sessionId")) or as_name(record.get("session_id")),
        "message_id": as_name(message.get("id")),
        "logged_at": None if is_printed else _known_time(record),
        **_counts(message["usage"], _CLAUDE_KEYS),
    }


def _claude_result(record: Record, usage: Record) -> Record:
    """The result of `claude -p`: what all its models took (`modelUsage`, a running total of its process), and what its
    main agent took for this answer (`usage`)."""
    models = [
        _counts(model, _MODEL_KEYS) for model in object_items(record.get("modelUsage")).values() if object_items(model)
    ]
    main = _counts(usage, _CLAUDE_KEYS)
    sums = {name: _sum([model[name] for model in models]) for name in _COUNTS} if models else main
    return {
        "usage_format": "claude_result",
        "session_id": as_name(record.get("session_id")),
        "message_id": as_name(record.get("uuid")),
        "logged_at": _time(record),
        **sums,
        **dict(zip(_LAST, main.values(), strict=True)),
    }


def _sum(counts: list[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


def _last(last: Record, keys: tuple[str | None, ...]) -> Record:
    """What the last call took, null where it is not stated."""
    counts = [checked_count(last.get(key), f"last {key}") if key else None for key in keys]
    return dict(zip(_LAST, counts, strict=True))


def _counts(usage: Record, keys: tuple[str | None, ...]) -> Record:
    counts = [checked_count(usage.get(key), key) if key else None for key in keys]
    if counts[0] is None and counts[-1] is None:
        raise Unreadable(f"a token report with neither {keys[0]} nor {keys[-1]}")
    return dict(zip(_COUNTS, counts, strict=True))


def _time(record: Record) -> datetime | None:
    return checked_time(record.get("timestamp"), "timestamp")


def _known_time(record: Record) -> datetime:
    moment = _time(record)
    if moment is None:
        raise Unreadable("a token report without a timestamp")
    return moment
