"""Checkpoints on the Hub, read by the official client from a server on the loopback interface."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from tests.python.support.command import ROOT
from tests.python.support.hub_server import HubServer

CONFIG = json.dumps({"model_type": "qwen3_5", "eos_token_id": 248046}).encode()


@pytest.fixture
def hub() -> Iterator[HubServer]:
    with HubServer() as server:
        server.repos = {
            ("model", "lab/kimi.h012.sft.500"): {
                "main": {
                    "config.json": CONFIG,
                    "generation_config.json": b'{"eos_token_id": [1, 2]}',
                    "w.safetensors": b"w",
                }
            },
            ("model", "lab/arm-model"): {
                "main": {"README.md": b"steps are branches"},
                "step-0100": {"config.json": CONFIG},
                "step-0200": {"config.json": b'{"eos_token_id": 1,}'},
            },
            ("model", "lab/kimi-record"): {
                "main": {"config.json": CONFIG, "driver/1.jsonl": b"{}", "driver/2.jsonl": b"{}"}
            },
            ("dataset", "lab/kimi-data"): {"main": {"corpus.jsonl": b"{}"}},
            ("dataset", "lab/prompts"): {"main": {}},
            ("model", "other/model"): {"main": {"config.json": CONFIG}},
        }
        yield server


def ingest(hub: HubServer, folder: Path, place: str) -> subprocess.CompletedProcess:
    environment = os.environ | {"PYTHONPATH": str(ROOT), "SEAMLINE_HOME": str(folder / "home")}
    return subprocess.run(
        [sys.executable, "-m", "seamline", "ingest", "checkpoints", place],
        env=environment | hub.environment(folder / "hf"),
        capture_output=True,
        text=True,
    )


def landed(folder: Path, table: str, columns: str) -> list[tuple]:
    where = "quarantine" if table == "quarantine" else f"landing/{table}"
    return duckdb.sql(f"select {columns} from '{folder}/home/{where}/*.parquet' order by all").fetchall()


def test_every_branch_of_an_organisation_s_repos_is_a_checkpoint(hub: HubServer, tmp_path: Path) -> None:
    done = ingest(hub, tmp_path, "hf:lab")
    assert done.returncode == 0, done.stderr
    assert landed(tmp_path, "checkpoint_folders", "model_id, source_kind, org, repo, branch") == [
        ("lab/arm-model@step-0100", "hub", "lab", "lab/arm-model", "step-0100"),
        ("lab/arm-model@step-0200", "hub", "lab", "lab/arm-model", "step-0200"),
        ("lab/kimi.h012.sft.500", "hub", "lab", "lab/kimi.h012.sft.500", "main"),
    ]
    assert landed(tmp_path, "checkpoint_configs", "file_name, is_readable, eos_token_ids") == [
        ("config.json", False, None),
        ("config.json", True, [248046]),
        ("config.json", True, [248046]),
        ("generation_config.json", True, [1, 2]),
    ]
    assert landed(tmp_path, "hub_companions", "repo, repo_type") == [
        ("lab/kimi-data", "dataset"),
        ("lab/kimi-record", "model"),
    ]
    assert landed(tmp_path, "quarantine", "locator") == [("line 1 of config.json on branch step-0200",)]
    assert not any("safetensors" in request or "other/" in request for request in hub.requests)


def test_what_companions_hold_is_counted(hub: HubServer, tmp_path: Path) -> None:
    ingest(hub, tmp_path, "hf:lab")
    assert landed(tmp_path, "companion_entries", "repo, repo_type, entry, file_count, size_bytes") == [
        ("lab/kimi-data", "dataset", "corpus.jsonl", 1, 2),
        ("lab/kimi-record", "model", "config.json", 1, len(CONFIG)),
        ("lab/kimi-record", "model", "driver/", 2, 4),
    ]


def test_steps_in_folders_of_a_repo_are_checkpoints_too(hub: HubServer, tmp_path: Path) -> None:
    hub.repos["model", "lab/run"] = {
        "main": {
            "config.json": CONFIG,
            "checkpoint-50/config.json": CONFIG,
            "checkpoint-50/trainer_state.json": b'{"global_step": 50}',
            "last-checkpoint/config.json": CONFIG,
            "unet/config.json": CONFIG,
        }
    }
    ingest(hub, tmp_path, "hf:lab/run")
    assert landed(tmp_path, "checkpoint_folders", "model_id, step_name, folder_path") == [
        ("lab/run", None, "hf:lab/run@main"),
        ("lab/run/checkpoint-50", "50", "hf:lab/run@main/checkpoint-50"),
        ("lab/run/last-checkpoint", None, "hf:lab/run@main/last-checkpoint"),
    ]
    assert landed(tmp_path, "checkpoint_states", "folder_idx, global_step") == [(1, 50)]


def test_what_has_not_moved_is_not_read_again_and_what_has_is(hub: HubServer, tmp_path: Path) -> None:
    ingest(hub, tmp_path, "hf:lab")
    hub.requests.clear()
    assert "0 landed, 3 unchanged" in ingest(hub, tmp_path, "hf:lab").stdout
    assert not any("resolve" in request for request in hub.requests)
    hub.repos["model", "lab/arm-model"]["step-0300"] = {"config.json": CONFIG}
    assert "1 landed, 2 unchanged" in ingest(hub, tmp_path, "hf:lab").stdout
    assert len(landed(tmp_path, "checkpoint_folders", "model_id")) == 4


def test_one_repo_by_name(hub: HubServer, tmp_path: Path) -> None:
    assert ingest(hub, tmp_path, "hf:lab/kimi.h012.sft.500").returncode == 0
    assert landed(tmp_path, "checkpoint_folders", "model_id") == [("lab/kimi.h012.sft.500",)]


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("hf:lab/nothing", "the Hub refuses it"),
        ("hf:", "write hf:ORG or hf:ORG/REPO"),
        ("hf:a/b/c", "write hf:ORG or hf:ORG/REPO"),
    ],
)
def test_a_place_that_is_none_is_an_error_that_says_so(hub: HubServer, tmp_path: Path, place: str, said: str) -> None:
    done = ingest(hub, tmp_path, place)
    assert done.returncode == 1 and said in done.stderr and "Traceback" not in done.stderr


def test_a_gated_repo_is_named(hub: HubServer, tmp_path: Path) -> None:
    hub.refused["lab/arm-model"] = 403
    done = ingest(hub, tmp_path, "hf:lab/arm-model")
    assert done.returncode == 1 and "hf:lab/arm-model: the Hub refuses it" in done.stderr
    # Among others it is quarantined, and they land.
    assert "3 landed" in ingest(hub, tmp_path, "hf:lab").stdout
    assert landed(tmp_path, "checkpoint_folders", "model_id") == [("lab/kimi.h012.sft.500",)]
    assert [reason.split(":")[0] for (reason,) in landed(tmp_path, "quarantine", "reason")] == ["the Hub refuses it"]


def test_a_hub_that_does_not_answer_is_an_error(hub: HubServer, tmp_path: Path) -> None:
    hub.url = "http://127.0.0.1:9"
    done = ingest(hub, tmp_path, "hf:lab/arm-model")
    assert done.returncode == 1 and "does not answer" in done.stderr and "Traceback" not in done.stderr
