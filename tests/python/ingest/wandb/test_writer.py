"""The simulator's `.wandb` files hold what the SDK would have written."""

import io
import json
import os
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulate.curves.wandb_writer import LogWriter, frame
from tests.python.support.command import DATA
from tests.python.support.wandb.records import items, kind_of, payloads, records

CONFIG = {"lr": 1e-6, "loss": float("nan"), "vllm": {"engines": 8, "share": [1.5, 2]}, "name": "é", "weight": 2.0}
ROW = {
    "tiny": 1e-5,
    "million": 1e6,
    "many": 1_234_567.0,
    "whole": 100.0,
    "zero": 0.0,
    "minus zero": -0.0,
    "smallest": 5e-324,
    "huge": 1e21,
    "tenth": 0.1,
    "list": [1e-5, 2.0, "é"],
    "none": None,
    "nan": float("nan"),
    "low": float("-inf"),
    "text": 'é"',
    "true": True,
    "nested": {"a": {"b": 1.5}, "c": float("nan")},
    "dotted.key": 7,
    "exact": 2**53 + 1,
}
BY_THE_SDK = """
import json, sys, wandb
config, row = json.loads(sys.argv[1])
run = wandb.init(project="sc3", entity="sim-lab", group="sc3", name="a__42__1", id="sdk00001", config=config,
                 settings=wandb.Settings(x_disable_stats=True))
run.define_metric("eval/*", step_metric="eval/global_step")
run.define_metric("eval/pass1", step_metric="train/step")
run.log(row)
run.log({"whole": 2.0}, step=5)
run.finish()
"""


def unordered(record) -> Counter:
    """Items of a record without those that tell its time."""
    return Counter(item for item in items(record) if item[0][-1] not in ("_timestamp", "_runtime"))


def fields(message) -> set[str]:
    return {field.name for field, _ in message.ListFields()}


def test_a_log_equals_the_sdks(tmp_path: Path) -> None:
    environment = os.environ | {"WANDB_MODE": "offline", "WANDB_SILENT": "true", "WANDB_DIR": str(tmp_path)}
    # The SDK is not to look at this checkout.
    environment |= {"WANDB_DISABLE_GIT": "true", "WANDB_DISABLE_CODE": "true"}
    subprocess.run(
        [sys.executable, "-c", BY_THE_SDK, json.dumps([CONFIG, ROW])], env=environment, check=True, cwd=tmp_path
    )
    (theirs_path,) = tmp_path.glob("wandb/offline-run-*/*.wandb")
    ours_path = tmp_path / "run-sdk00001.wandb"
    with LogWriter(ours_path, shuffle=random.Random(1)) as writer:
        writer.run("sdk00001", 1.79e9, CONFIG, "a__42__1", "sc3", "sim-lab", "sc3")
        writer.define_metric("eval/*", "eval/global_step")
        writer.define_metric("eval/pass1", "train/step")
        writer.history(ROW | {"_step": 0, "_timestamp": 1.79e9, "_runtime": 0.5})
        writer.history({"whole": 2.0, "_step": 5, "_timestamp": 1.79e9, "_runtime": 0.75})
        writer.exit()
    theirs, ours = records(theirs_path), records(ours_path)

    def only(log, kind):
        return [record for record in log if kind_of(record) == kind]

    assert [kind_of(r) for r in ours] == ["header", "run", "metric", "metric", "history", "history", "exit"]
    for kind in ("header", "run", "metric", "history", "exit"):
        assert len(only(ours, kind)) == len(only(theirs, kind)), kind
    for mine, sdks in zip(only(ours, "history"), only(theirs, "history"), strict=True):
        assert unordered(mine) == unordered(sdks)
        assert len(mine.history.item) == len(sdks.history.item)
        assert mine.history.step.num == sdks.history.step.num
        assert fields(mine) == fields(sdks)
        for item in mine.history.item:
            assert fields(item) == fields(sdks.history.item[0])
    assert [record.metric for record in only(ours, "metric")] == [record.metric for record in only(theirs, "metric")]
    run, sdk_run = only(ours, "run")[0].run, only(theirs, "run")[0].run
    assert {(i.key, i.value_json) for i in run.config.update} == {
        (i.key, i.value_json) for i in sdk_run.config.update if i.key != "_wandb"
    }
    for name in ("run_id", "entity", "project", "run_group", "display_name"):
        assert getattr(run, name) == getattr(sdk_run, name)
    assert fields(run) <= fields(sdk_run)
    # A run time of 0 seconds is not written.
    assert fields(only(ours, "exit")[0].exit) | {"runtime"} == fields(only(theirs, "exit")[0].exit) | {"runtime"}
    assert fields(only(ours, "header")[0].header) == fields(only(theirs, "header")[0].header)
    numbers = [record.num for record in ours]
    assert numbers == [1, 2, 3, 4, 5, 6, 7]


@pytest.mark.parametrize("log", sorted(DATA.glob("wandb/sdk-0*/*/*.wandb")), ids=lambda log: "/".join(log.parts[-3:-1]))
def test_the_rows_of_a_real_log_are_spelled_alike(log: Path, tmp_path: Path) -> None:
    real = [record for record in records(log) if kind_of(record) == "history"]
    assert real
    minor_version = int(log.parts[-3].split(".")[1])
    encoding = "nested_key" if minor_version >= 18 else "key"
    with LogWriter(tmp_path / "run.wandb", encoding) as writer:
        for record in real:
            row: dict = {}
            for path, text in items(record):
                node = row
                for key in path[:-1]:
                    node = node.setdefault(key, {})
                node[path[-1]] = json.loads(text)
            writer.history(row)
    again = records(tmp_path / "run.wandb")[1:]
    assert [Counter(items(record)) for record in again] == [Counter(items(record)) for record in real]


payload = st.one_of(
    st.binary(max_size=40),
    st.integers(0, 3 * 32_768).map(lambda size: random.Random(size).randbytes(size)),
    # Sizes that leave 0 to 8 bytes of a block.
    st.integers(32_768 - 7 - 7 - 8, 32_768 - 7).map(lambda size: random.Random(size).randbytes(size)),
)


@settings(max_examples=200, deadline=None)
@given(st.lists(payload, max_size=8), st.data())
def test_framing_comes_back_whole_and_a_cut_loses_only_the_cut(written: list[bytes], data: st.DataObject) -> None:
    out = io.BytesIO()
    frame(written, out)
    log = out.getvalue()
    assert payloads(log) == (written, False)
    cut = data.draw(st.integers(7, len(log)))
    read, _ = payloads(log[:cut])
    assert read == written[: len(read)]
    sizes = [7]
    for count in range(1, len(written) + 1):
        part = io.BytesIO()
        frame(written[:count], part)
        sizes.append(len(part.getvalue()))
    assert len(read) == max(count for count, size in enumerate(sizes) if size <= cut)


@pytest.mark.parametrize("keep", [1, 6, 7, 8, 40])
def test_a_cut_keeps_every_earlier_record(keep: int, tmp_path: Path) -> None:
    path = tmp_path / "run.wandb"
    with LogWriter(path) as writer:
        for step in range(700):
            writer.history({"_step": step, "text": "x" * 60})
        writer.cut(keep)
    found, is_cut = payloads(path.read_bytes())
    assert is_cut
    assert len(found) == 1 + 699


def test_a_cut_outside_the_last_record_is_refused(tmp_path: Path) -> None:
    with LogWriter(tmp_path / "run.wandb") as writer, pytest.raises(ValueError, match="no cut inside it"):
        writer.history({"_step": 0})
        writer.cut(10_000)
