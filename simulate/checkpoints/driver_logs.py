"""Writes agent session logs in three formats, with what makes them easy to count wrongly."""

import json
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from simulate.checkpoints.sweep import Call, Cell


def write_sessions(folder: Path, cell: Cell) -> None:
    """Write `driver/` of one cell."""
    writers: dict[str, Callable[[Cell], Iterator[tuple[str, list[dict[str, Any]]]]]] = {
        "codex": _codex,
        "claude_code": _claude_code,
        "plain": _plain,
    }
    if cell.log_format is None:
        return
    for name, records in writers[cell.log_format](cell):
        path = folder / "driver" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(json.dumps(record) + "\n" for record in records))


def _iso(moment: datetime) -> str:
    return f"{moment:%Y-%m-%dT%H:%M:%S.000Z}"


def _codex(cell: Cell) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Running totals, each told twice. The second session was forked from the first and replays its head; a third took
    over from the second and starts at the first one's total, without its history."""
    first, later = cell.sessions
    forked, half = 5, len(later) // 2
    ids = [f"{cell.name}-session-{number}" for number in (1, 2, 3)]
    totals = [0, 0, 0]
    records = [_session_meta(cell, first[0], {"id": ids[0]})]
    records += [record for call in first for record in _told_twice(cell, call, totals)]
    yield "rollout-1.jsonl", records
    inherited = totals

    meta = _session_meta(cell, later[0], {"id": ids[1], "forked_from_id": ids[0]})
    totals, moment = [0, 0, 0], meta["timestamp"]
    records = [meta, {"timestamp": moment, "type": "session_meta", "payload": {"id": ids[0]}}]
    records += [_token_count(moment, call, totals) for call in first[:forked]]
    records.append({"timestamp": moment, "type": "event_msg", "payload": {"type": "token_count", "info": None}})
    records += [record for call in later[:half] for record in _told_twice(cell, call, totals)]
    yield "rollout-2.jsonl", records

    spawned = {"subagent": {"thread_spawn": {"parent_thread_id": ids[0], "depth": 1}}}
    records = [_session_meta(cell, later[half], {"id": ids[2], "source": spawned})]
    records += [record for call in later[half:] for record in _told_twice(cell, call, inherited)]
    yield "rollout-3.jsonl", records


def _session_meta(cell: Cell, call: Call, meta: dict[str, Any]) -> dict[str, Any]:
    return {"timestamp": _iso(cell.at(call.second - 30)), "type": "session_meta", "payload": meta}


def _told_twice(cell: Cell, call: Call, totals: list[int]) -> list[dict[str, Any]]:
    """The report of a call, a message, and the same report once more, as on every refresh of the rate limits."""
    moment = _iso(cell.at(call.second))
    report = _token_count(moment, call, totals)
    message = {"timestamp": moment, "type": "response_item", "payload": {"type": "message"}}
    return [report, message, report | {"timestamp": _iso(cell.at(call.second + 5))}]


def _token_count(moment: str, call: Call, totals: list[int]) -> dict[str, Any]:
    last = [call.input_tokens, call.cached_tokens, call.output_tokens]
    totals[:] = [total + new for total, new in zip(totals, last, strict=True)]
    names = ("input_tokens", "cached_input_tokens", "output_tokens")
    info = {
        kind: dict(zip(names, values, strict=True)) | {"total_tokens": values[0] + values[2]}
        for kind, values in (("total_token_usage", totals), ("last_token_usage", last))
    }
    return {"timestamp": moment, "type": "event_msg", "payload": {"type": "token_count", "info": info}}


def _claude_code(cell: Cell) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """A line for each content block of a message, each with its whole usage; the first ones of a stream know less."""
    for index, calls in enumerate(cell.sessions):
        session = f"{cell.name}-{index + 1}"
        records: list[dict[str, Any]] = [{"type": "summary", "summary": "work", "sessionId": session}]
        for number, call in enumerate(calls):
            written = min(500, call.cached_tokens)
            for block in range(3):
                usage = {
                    "input_tokens": call.input_tokens - call.cached_tokens,
                    "cache_creation_input_tokens": written,
                    "cache_read_input_tokens": call.cached_tokens - written,
                    "output_tokens": 1 if block == 0 else call.output_tokens,
                }
                message = {"id": f"msg_{session}_{number}", "role": "assistant", "usage": usage}
                moment = _iso(cell.at(call.second + block))
                records.append({"type": "assistant", "timestamp": moment, "sessionId": session, "message": message})
            records.append({"type": "user", "timestamp": moment, "message": {"role": "user", "content": "go on"}})
        if index:
            # A resumed session starts with a copy of what came before.
            earlier = next(_claude_lines(cell))
            records[1:1] = earlier
        yield f"{session}.jsonl", records
        yield f"{session}.json", [_printed(session, calls)]


def _printed(session: str, calls: tuple[Call, ...]) -> dict[str, Any]:
    """What `claude -p --output-format json` printed of a session: the sum of what its log holds."""
    usage = {
        "input_tokens": sum(call.input_tokens - call.cached_tokens for call in calls),
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": sum(call.cached_tokens for call in calls),
        "output_tokens": sum(call.output_tokens for call in calls),
    }
    return {"type": "result", "subtype": "success", "session_id": session, "uuid": f"end of {session}", "usage": usage}


def _claude_lines(cell: Cell) -> Iterator[list[dict[str, Any]]]:
    """The first lines of the first session, as a resumed session copies them."""
    first = next(_claude_code(cell))
    yield first[1][1:9]


def _plain(cell: Cell) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Increments."""
    for index, calls in enumerate(cell.sessions):
        yield (
            f"usage-{index + 1}.jsonl",
            [
                {
                    "timestamp": _iso(cell.at(call.second)),
                    "input_tokens": call.input_tokens,
                    "cached_input_tokens": call.cached_tokens,
                    "output_tokens": call.output_tokens,
                }
                for call in calls
            ],
        )
