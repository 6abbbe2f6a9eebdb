"""`land()` and the driver: whole or not at all, rolled forward after a kill, unchanged skipped, copies counted once."""

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from homes import landing
from homes.errors import LandingError
from homes.landing import Source, forget, land, landed, quarantine, recover
from ingest.run import file_digest, ingest
from ingest.wandb.files import ingest_wandb
from simulate.curves.wandb_writer import LogWriter
from tests.python.support.command import ROOT
from tests.python.support.landed import everything, fresh, rows


def config(*keys: str) -> tuple[str, pa.RecordBatch]:
    return "history_config", pa.RecordBatch.from_pydict({"config_key": list(keys), "value_json": ["1"] * len(keys)})


def summary(*keys: str) -> tuple[str, pa.RecordBatch]:
    return "history_summary", pa.RecordBatch.from_pydict({"summary_key": list(keys), "value_json": ["2"] * len(keys)})


SOURCE = Source("wandb", "one", "/data/one", "d1", 10)
KEYS = "select source_name, config_key from history_config order by all"


def test_a_source_lands_with_its_name_and_its_record(tmp_path: Path):
    home = fresh(tmp_path)
    counts = land(home, SOURCE, [config("a", "b"), summary("s"), quarantine("line 3", "torn"), config("c")])
    assert counts == {"history_config": 3, "history_summary": 1, "quarantine": 1, "landed_sources": 1}
    assert rows(home, KEYS) == [("one", "a"), ("one", "b"), ("one", "c")]
    assert rows(home, "from quarantine") == [("one", "line 3", "torn")]
    assert rows(home, "select row_count, quarantined_count, digest from landed_sources") == [(4, 1, "d1")]
    assert landed(home) == {"one": SOURCE}
    assert not list(home.staging.iterdir())


def test_landing_again_replaces_the_source_and_leaves_the_others(tmp_path: Path):
    home = fresh(tmp_path)
    land(home, SOURCE, [config("a"), summary("s")])
    land(home, Source("wandb", "two", "/data/two", "d", 1), [config("z")])
    land(home, SOURCE, [config("b")])
    assert rows(home, KEYS) == [("one", "b"), ("two", "z")]
    assert rows(home, "from history_summary") == []  # the table that the source no longer fills is emptied of it


def test_a_forgotten_source_is_nowhere(tmp_path: Path):
    home = fresh(tmp_path)
    land(home, SOURCE, [config("a"), quarantine("line 1", "x")])
    forget(home, "one")
    assert not any(found for found in everything(home).values())


def test_a_reader_that_fails_leaves_the_earlier_landing(tmp_path: Path):
    home = fresh(tmp_path)
    land(home, SOURCE, [config("a")])
    before = everything(home)

    def failing():
        yield config("b")
        raise OSError("disk gone")

    with pytest.raises(OSError, match="disk gone"):
        land(home, SOURCE, failing())
    recover(home)
    assert everything(home) == before
    assert not list(home.staging.iterdir())


def test_a_repeated_key_and_strange_columns_are_refused(tmp_path: Path):
    home = fresh(tmp_path)
    with pytest.raises(LandingError, match="more than once"):
        land(home, SOURCE, [config("a"), config("b", "a")])
    with pytest.raises(LandingError, match="extra"):
        land(home, SOURCE, [("history_config", config("a")[1].append_column("extra", pa.array([1])))])
    assert not any(found for found in everything(home).values())


class Killed(BaseException):
    """Stands for SIGKILL: nothing catches it, nothing tidies up after it."""


class Countdown:
    """Raises Killed at the n-th file operation that it wraps, and after it lets nothing be removed."""

    def __init__(self, left: int) -> None:
        self.left = left

    def wrap(self, function):
        def call(*arguments, **named):
            self.left -= 1
            if self.left == 0:
                raise Killed
            return function(*arguments, **named)

        return call

    def __enter__(self) -> "Countdown":
        self.patch = pytest.MonkeyPatch()
        self.patch.setattr(os, "replace", self.wrap(os.replace))
        self.patch.setattr(Path, "rename", self.wrap(Path.rename))
        self.patch.setattr(Path, "unlink", self.wrap(Path.unlink))
        self.patch.setattr(landing, "_sync", self.wrap(landing._sync))
        self.patch.setattr(shutil, "rmtree", self.wrap(shutil.rmtree))
        return self

    def __exit__(self, *failure: object) -> None:
        self.patch.undo()


def test_a_kill_at_any_file_operation_leaves_the_old_or_the_new_landing(tmp_path: Path):
    home = fresh(tmp_path / "home")
    land(home, SOURCE, [config("a"), summary("s")])
    old = everything(home)
    new_source = Source("wandb", "one", "/data/one", "d2", 20)
    batches = [config("b", "c"), quarantine("line 1", "torn")]
    with Countdown(10**9) as countdown:
        land(home, new_source, batches)
    operations = 10**9 - countdown.left
    new = everything(home)
    assert operations > 15 and old != new
    outcomes = []
    # Most operations in the middle remove files of tables that this source has none in.
    for moment in [*range(1, 16), *range(operations - 3, operations + 1)]:
        land(home, SOURCE, [config("a"), summary("s")])
        with Countdown(moment), pytest.raises(Killed):
            land(home, new_source, batches)
        recover(home)
        found = everything(home)
        assert found in (old, new), moment
        assert not list(home.staging.iterdir())
        outcomes.append(found == new)
    assert outcomes == sorted(outcomes) and not outcomes[0] and outcomes[-1]


def test_row_groups_are_gathered_and_dictionaries_joined(tmp_path: Path):
    home = fresh(tmp_path)
    names = [f"key {i:05d}" for i in range(3000)]

    def batches():
        for at in range(0, 3000, 10):
            part = pa.array(names[at : at + 10])
            yield (
                "history_config",
                pa.RecordBatch.from_pydict(
                    {"config_key": part.dictionary_encode() if at % 20 else part, "value_json": part}
                ),
            )

    land(home, SOURCE, batches())
    assert rows(home, "select config_key, value_json from history_config order by 1") == [(n, n) for n in names]
    assert pq.ParquetFile(home.table("history_config") / "one.parquet").num_row_groups == 1


def test_dictionaries_in_another_order_stay_dictionaries(tmp_path: Path):
    home = fresh(tmp_path)
    names = ["a" * 200, "b" * 200, "c" * 200]

    def batches():
        for at in range(300):
            metrics = pa.array(names[at % 3 :] + names[: at % 3]).dictionary_encode()
            nothing = pa.nulls(3, pa.string())
            columns = {"row_idx": [at] * 3, "metric": metrics, "key_path": nothing, "value": [1.0] * 3}
            yield "history_values", pa.RecordBatch.from_pydict(columns | {"value_text": nothing})

    land(home, SOURCE, batches())
    assert rows(home, "select metric, count(*) from history_values group by 1 order by 1") == [(n, 300) for n in names]
    metadata = pq.ParquetFile(home.table("history_values") / "one.parquet").metadata.row_group(0)
    (metric,) = [c for c in map(metadata.column, range(metadata.num_columns)) if c.path_in_schema == "metric"]
    assert metric.total_uncompressed_size < 5_000  # 180,000 where each text is written


def files_source(path: Path) -> Source:
    """A source that a file names in its first line."""
    return Source("scores", path.read_text().splitlines()[0], str(path), file_digest(path), path.stat().st_size)


def read_lines(source: Source):
    yield config(*Path(source.path).read_text().splitlines())


def test_unchanged_is_skipped_changed_is_replaced_and_copies_count_once(tmp_path: Path):
    home = fresh(tmp_path / "home")
    first, second = tmp_path / "a.txt", tmp_path / "b.txt"
    first.write_text("x\none\n")
    second.write_text("y\n")

    def run(*paths: Path):
        done = ingest(home, "scores", paths, files_source, read_lines, workers=1)
        return done.landed, done.unchanged, done.copies

    assert run(first, second) == (2, 0, 0)
    assert run(first, second) == (0, 2, 0)
    copy = tmp_path / "copy.txt"
    shutil.copy(first, copy)
    assert run(first, copy) == (0, 1, 1)
    assert run(copy) == (0, 1, 0)  # moved: the same content under another path
    first.write_text("x\none\ntwo\n")
    assert run(first, copy) == (1, 0, 1)
    assert run(copy) == (0, 0, 1)  # an older, shorter copy does not push out the longer one
    assert rows(home, "select config_key from history_config where source_name = 'x' order by 1") == [
        ("one",),
        ("two",),
        ("x",),
    ]


def test_a_source_that_was_landed_under_another_name_replaces_that_landing(tmp_path: Path):
    home = fresh(tmp_path / "home")
    file = tmp_path / "a.txt"
    file.write_text("unnamed\n")
    ingest(home, "scores", [file], files_source, read_lines, workers=1)
    file.write_text("named\nmore\n")
    ingest(home, "scores", [file], files_source, read_lines, workers=1)
    assert rows(home, "select distinct source_name from history_config") == [("named",)]
    assert rows(home, "select source_name from landed_sources") == [("named",)]


def write_logs(folder: Path, count: int = 6) -> None:
    for number in range(count):
        path = folder / f"run-{number}" / f"run-r{number}.wandb"
        path.parent.mkdir(parents=True)
        with LogWriter(path) as log:
            log.run(f"r{number}", 1_795_000_000.5 + number, {"lr": number}, display_name=f"n{number}")
            for step in range(2000):
                log.history({"_step": step, "_timestamp": 1_795_000_000.0 + step, "scores": step / 7})


def test_ingest_killed_at_random_moments_and_rerun_lands_the_same(tmp_path: Path):
    logs = tmp_path / "logs"
    write_logs(logs)
    undisturbed = fresh(tmp_path / "undisturbed")
    ingest_wandb(undisturbed, [str(logs)], workers=1)
    expected = everything(undisturbed)
    home = fresh(tmp_path / "home")
    environment = os.environ | {"PYTHONPATH": str(ROOT), "SEAMLINE_HOME": str(home.path)}
    command = [sys.executable, "-m", "seamline", "ingest", "wandb", str(logs)]
    chance = random.Random(4)
    killed = 0
    for _ in range(8):
        process = subprocess.Popen(
            command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
        )
        # From before the first landing (imports take 0.6 s) to after the last.
        time.sleep(chance.uniform(0.4, 1.6))
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            killed += 1
        process.wait()
        for file in home.path.glob("landing/*/*.parquet"):
            pq.read_metadata(file)
        names = {name for (name,) in rows(home, "select source_name from landed_sources")}
        for name in names:
            counted = rows(home, f"select row_count from landed_sources where source_name = '{name}'")[0][0]
            sql = " + ".join(
                f"(select count(*) from {table} where source_name = '{name}')"
                for table in ("history_logs", "history_config", "history_rows", "history_values")
            )
            # Files are renamed one by one: a landing killed in between is whole once the next command has recovered.
            recover(home)
            assert rows(home, f"select {sql}") == [(counted,)]
    subprocess.run(command, env=environment, check=True, capture_output=True)
    assert everything(home) == expected
    assert killed
