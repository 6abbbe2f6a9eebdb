"""Readers of agents' session logs and of scores: real files, files written by hand, and broken ones."""

import json
from datetime import datetime
from pathlib import Path

import duckdb
import pytest

from tests.python.support.checkpoints.landing import landed, write
from tests.python.support.command import DATA, seamline


def test_each_agent_s_session_log_adds_up_to_its_totals(cell: Path, home: Path) -> None:
    for name in ("codex", "claude_code", "plain"):
        folder = cell.with_name(name)
        write(folder / "run.json", {"started_at": "2026-08-03T06:00:00Z"})
        write(folder / "driver" / "2026" / "08" / "session.jsonl", (DATA / "driver" / f"{name}.jsonl").read_bytes())
    seamline("ingest", "driver-usage", cell.parent, home=home)
    seamline("ingest", "checkpoints", cell.parent, home=home)
    seamline("build", home=home)
    assert landed(home, "quarantine", "locator") == []
    with duckdb.connect(str(home / "warehouse.duckdb"), read_only=True) as warehouse:
        spent = warehouse.execute(
            "select cell, sum(spent_tokens) from driver_spending group by 1 order by 1"
        ).fetchall()
    assert spent == [
        # 2 + 1,500 + 61,608 + 211 once, and 10 + 63,321 + 90.
        ("claude_code", 63_321 + 63_421),
        # The last running total: 31,000 in (16,000 of them cached) and 1,000 out.
        ("codex", 32_000),
        # 1,200 in (1,000 of them cached) and 34 out, 2,000 in and 66 out.
        ("plain", 3_300),
    ]
    times = landed(home, "driver_usage", "logged_at, cell")
    assert (datetime(2026, 8, 3, 6), "plain") in times and (datetime(2026, 8, 3, 6, 30), "plain") in times


def test_lines_of_a_session_log_that_can_t_be_read_are_named(cell: Path, home: Path) -> None:
    good = '{"timestamp": "2026-08-03T07:00:00Z", "input_tokens": 5, "output_tokens": 1}'
    lines = [
        good,
        '{"timestamp": "2026-08-03T07:00:00Z", "input_tokens": -5, "output_tokens": 1}',
        '{"input_tokens": 5, "output_tokens": 1}',
        '{"timestamp": "soon", "input_tokens": 5, "output_tokens": 1}',
        '{"timestamp": "2026-08-03T07:00:00Z", "input_tokens": null, "output_tokens": null}',
        '{"type": "event_msg", "payload": {"type": "token_count", "info": {}}}',
        '{"type": "tool", "output": "no tokens here"}',
        '["input_tokens"]',
        '{"timestamp": "2026-08-03T07:00:00Z", "input_tokens": 1.5}',
        '{"type": "tool", "output": "cut in the mid',
        good,
        '{"timestamp": "2026-08-03T08:00:00Z", "input_tok',
    ]
    write(cell / "driver" / "a.jsonl", "\r\n".join(lines))
    write(cell / "driver" / "empty.jsonl", "")
    write(cell / "driver" / "notes.txt", good)
    seamline("ingest", "driver-usage", cell.parent, home=home)
    assert landed(home, "driver_usage", "line_number, input_tokens") == [(1, 5), (11, 5)]
    found = [locator for (locator,) in landed(home, "quarantine", "locator")]
    assert sorted(found) == sorted(["byte 0"] + [f"line {n}" for n in (2, 3, 4, 5, 6, 8, 9, 10, 12)])


def test_a_grown_log_replaces_itself_and_a_fork_names_its_parent(cell: Path, home: Path) -> None:
    spawned = '{"subagent": {"thread_spawn": {"parent_thread_id": "a"}}}'
    meta = '{"type": "session_meta", "payload": {"id": "b", "source": ' + spawned + "}}"
    report = (
        '{"timestamp": "2026-08-03T07:00:00Z", "type": "event_msg", "payload": {"type": "token_count", "info": '
        '{"total_token_usage": {"input_tokens": 5, "output_tokens": 1}}}}'
    )
    log = write(cell / "driver" / "a.jsonl", f"{meta}\n{report}\n")
    seamline("ingest", "driver-usage", cell.parent, home=home)
    log.write_text(f"{meta}\n{report}\n{report}\n")
    seamline("ingest", "driver-usage", log, home=home)
    rows = landed(home, "driver_usage", "line_number, cell, session_id, parent_session_id, usage_format")
    assert rows == [(2, "kimi", "b", "a", "codex"), (3, "kimi", "b", "a", "codex")]


def test_a_cell_s_name_is_what_its_run_says(tmp_path: Path, home: Path) -> None:
    folder = tmp_path / "lab" / "a-run"
    write(folder / "run.json", {"cell": "opus-high"})
    write(folder / "driver" / "x.jsonl", (DATA / "driver" / "plain.jsonl").read_bytes())
    seamline("ingest", "checkpoints", folder, home=home)
    seamline("ingest", "driver-usage", folder, home=home)
    assert landed(home, "checkpoint_cells", "cell") == landed(home, "driver_usage", "distinct cell") == [("opus-high",)]


def test_scores_in_both_forms(tmp_path: Path, home: Path) -> None:
    write(
        tmp_path / "scores.csv",
        "model_id,suite,score,harness\r\norg/a.h001.b.1,swe,31.5,pi\nx,swe,NaN,\nx,swe,,pi\n,swe,1,\nx,,1,\nx,swe,high,\n",
    )
    lines = [
        {"cell": "a", "family": "b", "step": 500, "suite": "swe", "score": 2},
        {"cell": "a", "family": "b", "step": "0500", "suite": "swe", "score": None, "harness": "pi"},
        {"cell": "a", "family": "b", "suite": "swe", "score": 2},
    ]
    write(tmp_path / "more.jsonl", "\n".join(map(json.dumps, lines)) + '\n{"cell": "a", \nnull\n')
    write(tmp_path / "other.csv", "a,b\n1,2\n")
    seamline("ingest", "scores", tmp_path, home=home)
    rows = landed(home, "evaluation_scores", "line_number, model_id, cell, family, step_name, score, harness")
    assert [tuple("NaN" if v != v else v for v in row) for row in rows] == [
        (1, None, "a", "b", "500", 2.0, None),
        (2, "org/a.h001.b.1", None, None, None, 31.5, "pi"),
        (2, None, "a", "b", "0500", None, "pi"),
        (3, "x", None, None, None, "NaN", None),
        (4, "x", None, None, None, None, "pi"),
    ]
    assert [locator for (locator,) in landed(home, "quarantine", "locator")] == [
        "line 3", "line 4", "line 5", "line 5", "line 6", "line 7"
    ]  # fmt: skip


@pytest.mark.parametrize("kind", ["checkpoints", "driver-usage", "scores"])
def test_nothing_to_ingest_is_an_error(kind: str, tmp_path: Path, home: Path) -> None:
    write(tmp_path / "empty" / "note.txt", "nothing")
    for place in ("empty", "missing"):
        done = seamline("ingest", kind, tmp_path / place, home=home, check=False)
        assert done.returncode == 1 and done.stderr.startswith("error: ") and str(tmp_path / place) in done.stderr
