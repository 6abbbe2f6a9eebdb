"""Readers of what agents printed without times, and of what Codex's last call took. Inputs are written by hand in the
forms that Claude Code's and Codex's own documentation shows."""

import json
from datetime import datetime
from pathlib import Path

from tests.python.support.checkpoints.landing import landed, write
from tests.python.support.command import seamline

USAGE = {"input_tokens": 5, "cache_creation_input_tokens": 20, "cache_read_input_tokens": 1000, "output_tokens": 75}
MODELS = {
    "main": {
        "inputTokens": 5,
        "cacheCreationInputTokens": 20,
        "cacheReadInputTokens": 1000,
        "outputTokens": 75,
        "costUSD": 1,
    },
    "small": {"inputTokens": 90, "cacheCreationInputTokens": 0, "cacheReadInputTokens": 0, "outputTokens": 10},
}
RESULT = {"type": "result", "subtype": "success", "session_id": "s", "uuid": "u1", "num_turns": 3, "usage": USAGE}
ANSWER = {"type": "assistant", "session_id": "s", "message": {"id": "m1", "role": "assistant", "usage": USAGE}}
COLUMNS = """line_number, usage_format, session_id, message_id, logged_at, input_tokens, cached_input_tokens,
    cache_write_tokens, output_tokens, last_input_tokens, last_output_tokens"""


def lines(*records: dict) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


def test_what_claude_printed_lands_without_an_hour(cell: Path, home: Path) -> None:
    system = {"type": "system", "subtype": "init", "session_id": "s"}
    driver = cell / "driver"
    write(driver / "one.json", json.dumps(RESULT | {"modelUsage": MODELS}, indent=2))
    write(driver / "all" / "one.json", json.dumps([system, ANSWER, RESULT | {"uuid": "u2"}], indent=1))
    write(driver / "next" / "one.json", json.dumps(RESULT | {"uuid": "u4"}, indent=2))
    write(driver / "stream.jsonl", lines(system, ANSWER, RESULT | {"uuid": "u3"}))
    write(driver / "settings.json", '{"type": "settings", "model": "x"}')
    seamline("ingest", "driver-usage", cell.parent, home=home)
    whole = ("claude_result", "s", "u1", None, 95, 1000, 20, 85, 5, 75)
    alone = ("claude_result", "s", "u2", None, 5, 1000, 20, 75, 5, 75)
    answer = ("claude_code", "s", "m1", None, 5, 1000, 20, 75, None, None)
    expected = [(1, *whole), (2, *answer), (3, *alone), (2, *answer)]
    expected += [(line, *alone[:2], uuid, *alone[3:]) for line, uuid in ((3, "u3"), (1, "u4"))]
    assert sorted(landed(home, "driver_usage", COLUMNS), key=str) == sorted(expected, key=str)
    assert landed(home, "quarantine", "locator") == []


def test_what_codex_printed_is_a_running_total_of_its_thread(cell: Path, home: Path) -> None:
    def turn(total: int) -> dict:
        return {
            "type": "turn.completed",
            "usage": {"input_tokens": total, "cached_input_tokens": 9, "output_tokens": 1},
        }

    item = {"type": "item.completed", "item": {"type": "agent_message", "text": "input_tokens"}}
    log = lines({"type": "thread.started", "thread_id": "t1"}, item, turn(10), turn(30))
    write(cell / "driver" / "exec.jsonl", log + lines({"type": "thread.started", "thread_id": "t2"}, turn(5)))
    seamline("ingest", "driver-usage", cell.parent, home=home)
    rows = landed(home, "driver_usage", "line_number, usage_format, session_id, logged_at, input_tokens, output_tokens")
    assert rows == [
        (3, "codex_exec", "t1", None, 10, 1),
        (4, "codex_exec", "t1", None, 30, 1),
        (6, "codex_exec", "t2", None, 5, 1),
    ]
    assert landed(home, "quarantine", "locator") == []


def test_codex_s_last_call_and_the_start_of_its_session_land(cell: Path, home: Path) -> None:
    info = {
        "total_token_usage": {"input_tokens": 500, "cached_input_tokens": 100, "output_tokens": 20},
        "last_token_usage": {"input_tokens": 40, "cached_input_tokens": 30, "output_tokens": 2, "total_tokens": 42},
    }
    meta = {"id": "c", "timestamp": "2026-08-03T05:00:00Z", "forked_from_id": "p"}
    log = lines(
        {"timestamp": "2026-08-03T06:00:00Z", "type": "session_meta", "payload": meta},
        {"timestamp": "2026-08-03T06:00:00Z", "type": "session_meta", "payload": {"id": "p"}},
        {"timestamp": "2026-08-03T06:10:00Z", "type": "event_msg", "payload": {"type": "token_count", "info": info}},
    )
    write(cell / "driver" / "c.jsonl", log)
    seamline("ingest", "driver-usage", cell.parent, home=home)
    columns = """session_id, parent_session_id, session_started_at, last_input_tokens, last_cached_input_tokens,
        last_cache_write_tokens, last_output_tokens"""
    assert landed(home, "driver_usage", columns) == [("c", "p", datetime(2026, 8, 3, 6), 40, 30, None, 2)]
