"""Readers of sweeps, session logs, scores and manifests: real files, files written by hand, and broken ones."""

import json
import os
import shutil
from datetime import UTC, datetime
from pathlib import Path

import duckdb
import pytest

from tests.python.support.command import DATA, seamline

START = datetime(2026, 8, 3, 6, tzinfo=UTC)


def landed(home: Path, table: str, columns: str) -> list[tuple]:
    where = "quarantine" if table == "quarantine" else f"landing/{table}"
    return duckdb.sql(f"select {columns} from '{home}/{where}/*.parquet' order by all").fetchall()


def write(path: Path, content: str | bytes | dict, hour: float | None = None) -> Path:
    """A file, with its time `hour` hours after START."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(content, dict):
        content = json.dumps(content)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    if hour is not None:
        os.utime(path, (START.timestamp() + 3600 * hour,) * 2)
    return path


@pytest.fixture
def cell(tmp_path: Path) -> Path:
    """A cell `kimi` of a sweep `lab`, with its run.json."""
    folder = tmp_path / "lab" / "kimi"
    run = {"cell": "kimi", "driver": "kimi-code", "effort": "high", "started_at": "2026-08-03T08:00:00+02:00"}
    write(folder / "run.json", run | {"ended_at": "2026-08-07T10:00:00Z"})
    return folder


def test_real_checkpoints_land_and_the_broken_one_is_named(home: Path) -> None:
    done = seamline("ingest", "checkpoints", DATA / "checkpoints", home=home)
    assert "4 landed" in done.stdout
    columns = "file_name, is_readable, model_type, eos_token_ids"
    assert landed(home, "checkpoint_configs", columns) == [
        ("config.json", True, "minimind", None),
        ("config.json", True, "qwen2", [151645]),
        ("generation_config.json", False, None, None),
        ("generation_config.json", True, None, [128001]),
        ("generation_config.json", True, None, [151645, 151643]),
        ("generation_config.json", True, None, None),
    ]
    assert landed(home, "quarantine", "locator, reason") == [
        ("line 12 of generation_config.json", "Expecting ',' delimiter")
    ]
    names = landed(home, "checkpoint_folders", "model_id, source_kind")
    assert ("Qwen1.5-moe-8x0.5B-Chat", "folder") in names and len(names) == 4


def test_a_cell_lands_as_it_lies_there(cell: Path, home: Path) -> None:
    step = cell / "checkpoints" / "sft" / "0500"
    config = {"model_type": "qwen3_5", "_name_or_path": "Qwen/Qwen3.5-9B-Base", "text_config": {"eos_token_id": 7}}
    write(step / "config.json", b"\xef\xbb\xbf" + json.dumps(config).replace(", ", ",\r\n").encode(), hour=1)
    write(step / "shards" / "model.safetensors", b"x" * 10, hour=2.5)
    (cell / "checkpoints" / "sft" / "empty").mkdir()
    write(cell / "submission.json", {"submitted": "sft/0500", "fallback": None})
    seamline("ingest", "checkpoints", cell.parent, home=home)
    told = "cell, org, driver, effort, started_at, ended_at, submitted, fallback, has_run_json, has_submission"
    assert landed(home, "checkpoint_cells", told) == [
        (
            "kimi", "lab", "kimi-code", "high", datetime(2026, 8, 3, 6), datetime(2026, 8, 7, 10), "sft/0500", None,
            True, True,
        )
    ]  # fmt: skip
    assert landed(home, "checkpoint_folders", "folder_idx, family, step_name, source_kind") == [
        (0, "sft", "0500", "sweep"), (1, "sft", "empty", "sweep")
    ]  # fmt: skip
    assert landed(home, "checkpoint_files", "file_name, size_bytes, modified_at") == [
        ("config.json", (step / "config.json").stat().st_size, datetime(2026, 8, 3, 7)),
        ("shards/model.safetensors", 10, datetime(2026, 8, 3, 8, 30)),
    ]
    columns = "model_name, model_type, eos_token_ids, text_eos_token_ids"
    assert landed(home, "checkpoint_configs", columns) == [("Qwen/Qwen3.5-9B-Base", "qwen3_5", None, [7])]
    assert landed(home, "quarantine", "locator") == []


def test_org_is_the_sweep_s_folder_or_what_is_given(cell: Path, home: Path) -> None:
    seamline("ingest", "checkpoints", cell, home=home)
    assert landed(home, "checkpoint_cells", "org") == [("lab",)]
    seamline("ingest", "checkpoints", cell.parent, "--org", "agentic-ptb", home=home)
    assert landed(home, "checkpoint_cells", "org") == [("agentic-ptb",)]


def test_a_moved_sweep_replaces_itself_and_a_changed_file_is_read_again(cell: Path, home: Path) -> None:
    write(cell / "checkpoints" / "sft" / "1" / "config.json", "{}", hour=1)
    seamline("ingest", "checkpoints", cell.parent, home=home)
    assert "1 unchanged" in seamline("ingest", "checkpoints", cell.parent, home=home).stdout
    write(cell / "checkpoints" / "sft" / "2" / "config.json", "{}", hour=2)
    assert "1 landed" in seamline("ingest", "checkpoints", cell.parent, home=home).stdout
    moved = shutil.copytree(cell.parent, cell.parent.with_name("elsewhere"))
    write(moved / "kimi" / "checkpoints" / "sft" / "3" / "config.json", "{}", hour=2)
    seamline("ingest", "checkpoints", moved, home=home)
    assert landed(home, "checkpoint_folders", "step_name") == [("1",), ("2",), ("3",)]


@pytest.mark.parametrize(
    ("content", "locator", "reason"),
    [
        (b"", "line 1", "empty file"),
        (b'{"eos_token_id": }', "line 1", "Expecting value"),
        (b'{\n"eos_token_id": 1\n', "line 3", "Expecting ',' delimiter"),
        (b"[1, 2]", "line 1", "not a JSON object"),
        (b'{"a": "\xff"}', "line 1", "not UTF-8 text"),
        (b'{"eos_token_id": "<|im_end|>"}', "line 1", "eos_token_id '<|im_end|>' is not a whole number"),
        (b'{"eos_token_id": [1, 2.5]}', "line 1", "eos_token_id 2.5 is not a whole number"),
        (b'{"eos_token_id": [1, null]}', "line 1", "eos_token_id holds a null"),
        (b'{"eos_token_id": true}', "line 1", "eos_token_id True is not a whole number"),
        (b'{"eos_token_id": 9223372036854775808}', "line 1", "eos_token_id 9223372036854775808 is not a whole number"),
        (b"[" * 100_000, "line 1", "nested too deeply"),
    ],
)
def test_a_broken_config_is_quarantined_and_says_nothing(
    cell: Path, home: Path, content: bytes, locator: str, reason: str
) -> None:
    write(cell / "checkpoints" / "sft" / "1" / "generation_config.json", content)
    seamline("ingest", "checkpoints", cell.parent, home=home)
    found = landed(home, "quarantine", "locator, reason")
    assert [row[0] for row in found] == [f"{locator} of checkpoints/sft/1/generation_config.json"]
    assert found[0][1].startswith(reason[:20])
    assert landed(home, "checkpoint_configs", "is_readable, eos_token_ids") == [(False, None)]


def test_ids_that_are_null_or_in_another_place(cell: Path, home: Path) -> None:
    steps = cell / "checkpoints" / "sft"
    write(steps / "1" / "generation_config.json", {"eos_token_id": None})
    write(steps / "2" / "generation_config.json", {"eos_token_id": []})
    write(steps / "3" / "tokenizer_config.json", {"eos_token": {"content": "<|im_end|>"}})
    write(steps / "4" / "config.json", {"text_config": {"model_type": "qwen3_5_text"}})
    seamline("ingest", "checkpoints", cell.parent, home=home)
    columns = "folder_idx, eos_token_ids, eos_token, model_type, is_readable"
    assert landed(home, "checkpoint_configs", columns) == [
        (0, None, None, None, True),
        (1, [], None, None, True),
        (2, None, "<|im_end|>", None, True),
        (3, None, None, "qwen3_5_text", True),
    ]


def test_links_and_strays_are_no_checkpoints(cell: Path, home: Path, tmp_path: Path) -> None:
    steps = cell / "checkpoints" / "sft"
    write(steps / "500" / "config.json", "{}")
    (steps / "latest").symlink_to("500")
    outside = write(tmp_path / "store" / "600" / "config.json", "{}").parent
    (steps / "600").symlink_to(outside)
    write(steps / "latest_checkpointed_iteration.txt", "500")
    write(steps / ".cache" / "config.json", "{}")
    write(cell / "checkpoints" / "final" / "config.json", "{}")
    seamline("ingest", "checkpoints", cell.parent, home=home)
    assert landed(home, "checkpoint_folders", "family, step_name") == [("sft", "500"), ("sft", "600")]
    found = landed(home, "quarantine", "locator, reason")
    assert [row[0] for row in found] == ["line 1 of checkpoints/final"] and "without a step" in found[0][1]


def test_what_a_cell_says_of_itself_may_be_broken(cell: Path, home: Path) -> None:
    write(
        cell / "run.json", {"cell": "kimi", "effort": 3, "started_at": "yesterday", "ended_at": "2026-08-07T10:00:00Z"}
    )
    write(cell / "submission.json", {"submitted": 500, "fallback": "sft/1"})
    other = cell.with_name("grok")
    write(other / "run.json", "{")
    (other / "checkpoints" / "sft" / "1").mkdir(parents=True)
    write(other / "submission.json", "[]")
    seamline("ingest", "checkpoints", cell.parent, home=home)
    told = "cell, effort, started_at, submitted, fallback, has_run_json, has_submission"
    assert landed(home, "checkpoint_cells", told) == [
        ("grok", None, None, None, None, False, False),
        ("kimi", "3", None, None, "sft/1", True, True),
    ]
    assert [locator for (locator,) in landed(home, "quarantine", "locator")] == [
        "line 1 of run.json", "line 1 of run.json", "line 1 of submission.json", "line 1 of submission.json"
    ]  # fmt: skip


def test_the_janitor_s_log(cell: Path, home: Path) -> None:
    log = (
        "2026-08-03T10:00:00Z archived sft/500\r\n\n2026-08-03T12:00:00+02:00, pruned, sft/400\n"
        "2026-08-04T00:00:00.250 ARCHIVED rl/v2/7/\nnoon archived sft/1\nstarted\n2026-08-03T10:00:00Z archived sft\n"
    )
    write(cell / "ckpt-janitor.log", log)
    seamline("ingest", "checkpoints", cell.parent, home=home)
    assert landed(home, "checkpoint_archives", "line_number, logged_at, action, family, step_name") == [
        (1, datetime(2026, 8, 3, 10), "archived", "sft", "500"),
        (3, datetime(2026, 8, 3, 10), "pruned", "sft", "400"),
        (4, datetime(2026, 8, 4, 0, 0, 0, 250_000), "archived", "rl/v2", "7"),
    ]
    assert [locator for (locator,) in landed(home, "quarantine", "locator")] == [
        f"line {number} of ckpt-janitor.log" for number in (5, 6, 7)
    ]


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


def test_a_manifest_with_rows_that_can_t_be_read(tmp_path: Path, home: Path) -> None:
    header = "model_id,cell,hour,hour_source,eos_ok,eos_token_id,driver_tokens_at_hour\n"
    rows = 'a/x.h001.b.1,x,1.5,mtime,True,"[1, 2]",1e6\na/x.hNA.b.2,x,NaN,unrecoverable,,,\n,x,1,mtime,,,\n'
    rows += "a/x.h003.b.3,x,late,mtime,,,\na/x.h004.b.4,x,4,mtime,maybe,,\na/x.h005.b.5,x,5,mtime,,im_end,\n"
    write(tmp_path / "manifest.csv", header + rows)
    write(tmp_path / "manifest.json", '[{"model_id": "a", "cell": "x", "hour_source": "mtime"}, ')
    seamline("ingest", "checkpoints", tmp_path, home=home)
    columns = "model_id, hour, eos_ok, eos_token_ids, driver_tokens_at_hour"
    assert landed(home, "published_checkpoints", columns) == [
        ("a/x.h001.b.1", 1.5, True, [1, 2], 1e6), ("a/x.hNA.b.2", None, None, None, None)
    ]  # fmt: skip
    locators = [locator for (locator,) in landed(home, "quarantine", "locator")]
    assert locators == ["line 1", "line 4", "line 5", "line 6", "line 7"]


@pytest.mark.parametrize("kind", ["checkpoints", "driver-usage", "scores"])
def test_nothing_to_ingest_is_an_error(kind: str, tmp_path: Path, home: Path) -> None:
    write(tmp_path / "empty" / "note.txt", "nothing")
    for place in ("empty", "missing"):
        done = seamline("ingest", kind, tmp_path / place, home=home, check=False)
        assert done.returncode == 1 and done.stderr.startswith("error: ") and str(tmp_path / place) in done.stderr
