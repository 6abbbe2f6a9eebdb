"""Readers of sweeps and manifests: real files, files written by hand, and broken ones."""

import json
import shutil
from datetime import datetime
from pathlib import Path

import pytest

from tests.python.support.checkpoints.landing import landed, write
from tests.python.support.command import DATA, seamline


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
    # A checkpoint where a family should be has no step.
    assert landed(home, "checkpoint_folders", "family, step_name") == [
        ("final", None), ("sft", "500"), ("sft", "600")
    ]  # fmt: skip
    assert landed(home, "quarantine", "locator") == []


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
