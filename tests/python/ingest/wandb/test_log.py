"""The reader of `.wandb` logs: files written by SDK 0.12 to 0.31, damaged files, and a fuzz of damage."""

import json
import math
import os
import struct
import subprocess
import sys
from pathlib import Path

import pytest
from wandb.proto import wandb_internal_pb2 as pb
from wandb.proto import wandb_telemetry_pb2

from ingest.wandb.files import ingest_wandb
from ingest.wandb.proto import MESSAGES, UPSTREAM
from tests.python.support.command import DATA, seamline
from tests.python.support.landed import fresh, rows

SAMPLES = DATA / "wandb"
FULL = sorted(log for log in SAMPLES.glob("sdk-[0-9]*/*/*.wandb") if log.stat().st_size > 4000)
CRASHED = {"0.17.9": 381, "0.19.11": 399, "0.23.1": 384, "0.31.0": 383}


def first_row_logged_by_the_samples() -> dict[str, tuple[float | None, object]]:
    """The first row that the program behind the samples logged, beside W&B's own keys: value, and text as JSON."""
    return {
        "training_step": (1.0, None),
        "episode": (16.0, None),
        "scores": (math.nan, None),
        "x/inf": (math.inf, None),
        "x/ninf": (-math.inf, None),
        "np32": (0.10000000149011612, None),
        "npi": (3.0, None),
        "b": (None, True),
        "s": (None, "text"),
        "none": (None, None),
        "big": (2.0**60, 2**60),
        "tiny": (1e-300, None),
        "nested.a.b": (1.5, None),
        "nested.c": (math.nan, None),
        "lst": (None, [1, 2, 3]),
        "dot.key": (7.0, None),
        "sp ace/é": (1.0, None),
    }


def plain_records(log: Path) -> list[pb.Record]:
    """The records of an undamaged or cut log, read as plainly as can be: the oracle of the framing."""
    data, position, payload, found = log.read_bytes(), 7, b"", []
    while position + 7 <= len(data):
        left = 32768 - position % 32768
        if left < 7:
            position += left
            continue
        _, length, kind = struct.unpack_from("<IHB", data, position)
        payload += data[position + 7 : position + 7 + length]
        position += 7 + length
        if position > len(data):
            break
        if kind in (1, 4):
            found.append(pb.Record.FromString(payload))
            payload = b""
    return found


def plain_history(log: Path) -> list[dict[str, object]]:
    """Each history row of a log as one dict: nested keys joined, values parsed one by one."""
    found = []
    for record in plain_records(log):
        if record.WhichOneof("record_type") == "history":
            items = record.history.item
            found.append({i.key or ".".join(i.nested_key): json.loads(i.value_json) for i in items})
    return found


def same(left: object, right: object) -> bool:
    return left == right or (isinstance(left, float) and isinstance(right, float) and left != left and right != right)


def landed_rows(home, run_id: str) -> list[dict[str, tuple[float | None, object]]]:
    """History rows of the one log of a run: metric to value and parsed text."""
    found: list[dict] = []
    sql = f"""
        select row_idx, metric, value, value_text from history_values
        where source_name in (select source_name from history_logs where run_id = '{run_id}') order by row_idx"""
    for row_idx, metric, value, text in rows(home, sql):
        while len(found) <= row_idx:
            found.append({})
        assert metric not in found[row_idx]
        found[row_idx][metric] = (value, json.loads(text) if text is not None else None)
    return found


@pytest.mark.parametrize("log", FULL, ids=lambda log: log.parts[-3])
def test_every_sdk_lands_the_same_rows(log: Path, tmp_path: Path):
    home = fresh(tmp_path / "home")
    ingest_wandb(home, [str(log)])
    landed = landed_rows(home, "synth001")
    assert len(landed) == 4
    expected = first_row_logged_by_the_samples()
    first = {key: value for key, value in landed[0].items() if not key.startswith("_")}
    assert first.keys() == expected.keys()
    for key, (value, text) in expected.items():
        assert same(first[key][0], value) and first[key][1] == text, key
    histogram, image, table = landed[1]["h"], landed[2]["img"], landed[2]["tbl"]
    assert histogram[0] is None and histogram[1].keys() == {"_type", "values", "bins"}
    assert sum(histogram[1]["values"]) == 4 and len(histogram[1]["bins"]) == 65
    assert image[0] is None and image[1]["_type"] == "image-file" and image[1]["width"] == 4
    assert table[0] is None and table[1]["_type"] == "table-file" and table[1]["nrows"] == 2
    assert landed[1]["nph"] == (None, [0, 1, 2, 3, 4])
    assert not [key for row in landed for key in row if key.startswith(("h.", "img.", "tbl."))]
    paths = dict(rows(home, "select metric, key_path from history_values where key_path is not null"))
    assert paths == {"nested.a.b": '["nested", "a", "b"]', "nested.c": '["nested", "c"]'}
    assert [row["_step"][0] for row in landed] == [1, 5, 6, 7]
    assert rows(home, "select step from history_rows order by row_idx") == [(1,), (5,), (6,), (7,)]


@pytest.mark.parametrize("log", sorted(SAMPLES.glob("sdk-*/*/*.wandb")), ids=lambda log: "/".join(log.parts[-3:-1]))
def test_every_value_of_the_samples_lands(log: Path, tmp_path: Path):
    home = fresh(tmp_path / "home")
    ingest_wandb(home, [str(log)])
    run_id = next(r.run.run_id for r in plain_records(log) if r.HasField("run"))
    landed, plain = landed_rows(home, run_id), plain_history(log)
    assert len(landed) == len(plain)
    for got, row in zip(landed, plain, strict=True):
        for key, value in row.items():
            if type(value) in (int, float):
                if key.split(".")[0] not in ("img", "tbl", "h"):
                    assert same(got[key][0], float(value)), key
            elif not isinstance(value, dict) and key in got:
                assert got[key][1] == value, key
    (logged,) = rows(home, "select min(logged_at), max(runtime_seconds) from history_rows")
    assert logged[0].year == 2026
    assert logged[1] == max(float(row["_runtime"]) for row in plain)


@pytest.mark.parametrize("version", CRASHED)
def test_logs_of_killed_runs_land_all_whole_rows(version: str, tmp_path: Path):
    home = fresh(tmp_path / "home")
    ingest_wandb(home, [str(SAMPLES / f"sdk-crash-{version}")])
    ((run_id, has_exit, rows_landed, lost),) = rows(
        home, "select run_id, has_exit_record, history_row_count, lost_tail_bytes from history_logs"
    )
    assert (run_id, has_exit, rows_landed) == ("crash01", False, CRASHED[version])
    assert rows(home, "select count(*) from history_rows") == [(CRASHED[version],)]
    tails = rows(home, "select locator, reason from quarantine")
    (log,) = (SAMPLES / f"sdk-crash-{version}").rglob("*.wandb")
    if version == "0.17.9":
        assert (lost, tails) == (0, [])
    else:
        assert tails == [(f"byte {log.stat().st_size - lost}", f"the log ends inside a record in {lost} bytes")]


def test_all_samples_at_once_and_again(tmp_path: Path):
    home = tmp_path / "home"
    first = seamline("ingest", "wandb", SAMPLES, home=home)
    assert "15 landed, 0 unchanged" in first.stdout
    again = seamline("ingest", "wandb", SAMPLES, home=home)
    assert "0 landed, 15 unchanged" in again.stdout and not again.stderr


def test_messages_are_those_of_the_sdk():
    for name, fields in MESSAGES.items():
        if name == "Timestamp":
            continue
        upstream = UPSTREAM.get(name, name)
        descriptor = getattr(pb, upstream, None) or getattr(wandb_telemetry_pb2, upstream)
        for field, (number, kind) in fields.items():
            theirs = descriptor.DESCRIPTOR.fields_by_name[field.rstrip("*")]
            assert theirs.number == number, (name, field)
            assert theirs.is_repeated == field.endswith("*"), (name, field)
            if not isinstance(kind, str) and field != "none":
                assert theirs.type == kind, (name, field)


WRITES = """
import math, os, sys, wandb
run = wandb.init(dir=sys.argv[1], id="sdk01", name="grpo__1__1700000000", group="g", project="p",
                 config={"lr": 1e-6, "args": {"seed": 42}, "a.b": 1})
run.define_metric("train/global_step")
run.log({"scores": math.nan, "up": math.inf, "down": -math.inf, "n": {"a": {"b": 1.5}, "c.d": 2}, "n.a": 3})
run.log({"h": wandb.Histogram([1, 2, 2, 3], num_bins=4), "big": 2**60 + 1, "neg": -(2**53) - 2, "edge": 2**53})
run.log({"t": wandb.Table(columns=["x"], data=[[1]]), "text": "é \\"q\\"", "flag": True, "none": None, "empty": ""})
run.log({"whole": 2.0, "tiny": 5e-324, "list": [1, [2.5]], "huge": 1.7976931348623157e308}, step=10)
if sys.argv[2] == "finish":
    run.summary["best"] = {"x": 1}
    run.finish(exit_code=3)
else:
    os.kill(os.getpid(), 9)
"""


def write_with_sdk(folder: Path, end: str) -> Path:
    environment = os.environ | {
        "WANDB_MODE": "offline",
        "WANDB_CONSOLE": "off",
        "WANDB_SILENT": "true",
        "WANDB_DISABLE_GIT": "true",
        "WANDB_DISABLE_CODE": "true",
        "WANDB_ERROR_REPORTING": "false",
        "WANDB__DISABLE_STATS": "true",
        "HOME": str(folder),
    }
    folder.mkdir()
    done = subprocess.run([sys.executable, "-c", WRITES, str(folder), end], env=environment, capture_output=True)
    assert done.returncode == (3 if end == "finish" else -9) or done.returncode == 0, done.stderr.decode()
    (log,) = (folder / "wandb").glob("offline-run-*/*.wandb")
    return log


def test_a_run_written_by_the_installed_sdk_reads_back_exactly(tmp_path: Path):
    log = write_with_sdk(tmp_path / "sdk", "finish")
    home = fresh(tmp_path / "home")
    ingest_wandb(home, [str(tmp_path / "sdk")])
    facts = rows(home, "select run_id, run_name, run_group, project, has_exit_record, exit_code from history_logs")
    assert facts == [("sdk01", "grpo__1__1700000000", "g", "p", True, 3)]
    landed = landed_rows(home, "sdk01")
    logged = [{key: value for key, value in row.items() if not key.startswith("_")} for row in landed]
    table = logged[2].pop("t")
    assert table[0] is None and table[1]["_type"] == "table-file" and table[1]["nrows"] == 1
    histogram = {"_type": "histogram", "values": [1, 0, 2, 1], "bins": [1, 1.5, 2, 2.5, 3]}
    expected = [
        {
            "scores": (math.nan, None),
            "up": (math.inf, None),
            "down": (-math.inf, None),
            "n.a.b": (1.5, None),
            "n.c.d": (2.0, None),
            "n.a": (3.0, None),
        },
        {
            "h": (None, histogram),
            "big": (float(2**60), 2**60 + 1),
            "neg": (float(-(2**53) - 2), -(2**53) - 2),
            "edge": (float(2**53), None),
        },
        {"text": (None, 'é "q"'), "flag": (None, True), "none": (None, None), "empty": (None, "")},
        {
            "whole": (2.0, None),
            "tiny": (5e-324, None),
            "list": (None, [1, [2.5]]),
            "huge": (1.7976931348623157e308, None),
        },
    ]
    for got, row in zip(logged, expected, strict=True):
        assert got.keys() == row.keys()
        for key in row:
            assert same(got[key][0], row[key][0]) and got[key][1] == row[key][1], key
    assert [row["_step"][0] for row in landed] == [0, 1, 2, 10]
    assert rows(home, "select key_path from history_values where metric in ('n.c.d', 'n.a') order by metric") == [
        (None,),
        ('["n", "c.d"]',),
    ]
    config = {key: json.loads(text) for key, text in rows(home, "select config_key, value_json from history_config")}
    assert {key: config[key] for key in ("lr", "args.seed", "a.b")} == {"lr": 1e-6, "args.seed": 42, "a.b": 1}
    summary = dict(rows(home, "select summary_key, value_json from history_summary"))
    assert json.loads(summary["best.x"]) == 1 and json.loads(summary["whole"]) == 2
    assert json.loads(summary["h"]) == histogram
    assert log.exists()


def test_a_run_of_the_installed_sdk_that_was_killed_lands_unfinished(tmp_path: Path):
    write_with_sdk(tmp_path / "sdk", "kill")
    home = fresh(tmp_path / "home")
    ingest_wandb(home, [str(tmp_path / "sdk")])
    ((run_id, has_exit, _),) = rows(home, "select run_id, has_exit_record, history_row_count from history_logs")
    assert has_exit is False and run_id in ("sdk01", None)
