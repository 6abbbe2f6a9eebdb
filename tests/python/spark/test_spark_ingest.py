"""Landing on Spark gives what landing here gives, to the byte, also where tasks die."""

import os
import shutil
from collections.abc import Iterator
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from homes.errors import SeamlineError, SourceError
from homes.landing import Batches, Source, write_aside
from homes.lock import open_home
from homes.paths import Home
from ingest.open_instruct.shards import ingest_rollouts
from ingest.run import Cluster, ingest, source_name
from tests.python.support.command import ROOT, seamline
from tests.python.support.parity import landed_files

pytestmark = pytest.mark.skipif(
    find_spec("pyspark") is None or shutil.which("java") is None, reason="NO SPARK: needs seamline[spark] and Java"
)


@pytest.fixture(scope="module")
def shards(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("campaign") / "campaign"
    seamline("simulate", folder, "--scale", "small", "--seed", 3)
    return folder / "rollouts"


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Two task slots in this process, which try a failed task again, as clusters do and local[N] does not."""
    from ingest.spark import spark_cluster

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SEAMLINE_SPARK_MASTER", "local[2,3]")
        with spark_cluster(Home(tmp_path_factory.mktemp("session"))) as made:
            yield made


def assert_same(here: Path, there: Path) -> None:
    mine, theirs = landed_files(here), landed_files(there)
    assert mine.keys() == theirs.keys()
    assert [name for name in mine if mine[name] != theirs[name]] == []
    assert list((there / "landing" / ".staging").iterdir()) == []


def test_both_engines_land_and_say_the_same(shards: Path, cluster: Cluster, tmp_path: Path) -> None:
    homes = here, there = tmp_path / "here", tmp_path / "there"
    said = [
        seamline("ingest", "rollouts", shards, "--engine", engine, home=home)
        for engine, home in zip(("local", "spark"), homes, strict=True)
    ]
    assert said[0].stdout == said[1].stdout
    assert "35 landed, 0 unchanged" in said[0].stdout
    warnings = [[line for line in one.stderr.splitlines() if line.startswith("warning:")] for one in said]
    assert warnings[0] == warnings[1] and len(warnings[0]) == 1
    assert_same(here, there)
    assert list((there / "spark").iterdir()) == []
    assert not [p for p in ("metastore_db", "derby.log", "spark-warehouse", "artifacts") if (ROOT / p).exists()]

    with open_home(there) as home:
        assert ingest_rollouts(home, [str(shards)], cluster=cluster).line() == "rollouts: 0 landed, 35 unchanged"

    for path, engine in zip(homes, (None, cluster), strict=True):
        with open_home(path) as home:
            kept = ingest_rollouts(home, [str(shards)], keep_tokens=True, cluster=engine)
            assert (kept.landed, kept.unchanged) == (23, 12)
            assert kept.rows["rollout_tokens"] > 2_000
    assert_same(here, there)


def test_a_damaged_shard_is_quarantined_the_same(shards: Path, cluster: Cluster, tmp_path: Path) -> None:
    copy = tmp_path / "rollouts"
    shutil.copytree(shards, copy)
    damaged = max(copy.iterdir(), key=lambda path: path.stat().st_size)
    with open(damaged, "r+b") as shard:
        shard.readline()
        shard.write(b"\0\xff[")
    for name, engine in (("here", None), ("there", cluster)):
        with open_home(tmp_path / name) as home:
            outcome = ingest_rollouts(home, [str(copy)], cluster=engine)
        told = pq.read_table(tmp_path / name / "quarantine" / f"{source_name('rollouts', damaged)}.parquet")
        assert "line 2" in told["locator"].to_pylist()
        assert outcome.landed == 35
    assert_same(tmp_path / "here", tmp_path / "there")


def test_a_file_of_another_name_is_the_same_error(cluster: Cluster, tmp_path: Path) -> None:
    stranger = tmp_path / "stranger.jsonl"
    stranger.write_text("{}\n")
    errors = []
    for engine in (None, cluster):
        with open_home(tmp_path / "home") as home, pytest.raises(SourceError) as caught:
            ingest_rollouts(home, [str(stranger)], cluster=engine)
        errors.append(str(caught.value))
    assert errors[0] == errors[1]
    assert "its name does not tell run and shard" in errors[0]


def named(name: str) -> Source:
    return Source("wandb", name, f"/{name}", "digest", 1)


def some_rows(count: int) -> Batches:
    rows = {"config_key": [f"key {n}" for n in range(count)], "value_json": ["1"] * count}
    yield "history_config", pa.RecordBatch.from_pydict(rows)


def read_or_refuse(source: Source) -> Batches:
    yield from some_rows(3)
    if source.name.startswith("bad"):
        raise SourceError(f"{source.path}: refused")


def read_or_die(source: Source, witness: Path) -> Batches:
    """Ends its own process in the middle of the first attempt at the source `unlucky`."""
    yield from some_rows(3)
    if source.name == "unlucky" and not witness.exists():
        witness.write_text(str(sorted(path.name for path in witness.parent.glob("home/landing/.staging/*"))))
        os._exit(1)


def read_in_vain(source: Source) -> Batches:
    yield from some_rows(1)
    raise ZeroDivisionError("a fault of the reader")


def test_sources_that_fail_do_not_keep_out_the_others(cluster: Cluster, tmp_path: Path) -> None:
    errors = []
    for name, engine in (("here", None), ("there", cluster)):
        with open_home(tmp_path / name) as home, pytest.raises(SourceError) as caught:
            ingest(home, "wandb", ["good", "bad 1", "bad 2", "fine"], named, read_or_refuse, cluster=engine)
        errors.append(str(caught.value))
    assert errors[0] == errors[1] == "/bad 1: refused (1 other sources failed; 2 landed)"
    assert_same(tmp_path / "here", tmp_path / "there")


def test_a_killed_attempt_changes_nothing(cluster: Cluster, tmp_path: Path) -> None:
    witness = tmp_path / "witness"
    with open_home(tmp_path / "home") as home:
        # What a task leaves that goes on writing after its executor was given up
        write_aside(home.staging / "unlucky.0", named("unlucky"), some_rows(9))
        outcome = ingest(
            home, "wandb", ["lucky", "unlucky"], named, partial(read_or_die, witness=witness), cluster=cluster
        )
    assert witness.read_text().count("unlucky.") == 2, "the first attempt had begun to write"
    assert outcome.rows["history_config"] == 6
    with open_home(tmp_path / "here") as home:
        ingest(home, "wandb", ["lucky", "unlucky"], named, partial(read_or_die, witness=witness))
    assert_same(tmp_path / "here", tmp_path / "home")


def read_once(source: Source, witness: Path) -> Batches:
    """Three rows; of a later attempt one, then no more."""
    yield from some_rows(1 if witness.exists() else 3)
    assert not witness.exists()
    witness.touch()


def test_an_attempt_that_outlives_its_task_does_not_reach_the_result(tmp_path: Path) -> None:
    def twice(work, items):
        results = [work(item) for item in items]
        if work is not named:
            with pytest.raises(AssertionError):
                work(items[0])
        return results

    with open_home(tmp_path / "home") as home:
        ingest(home, "wandb", ["one"], named, partial(read_once, witness=tmp_path / "witness"), cluster=twice)
        assert pq.read_table(home.table("history_config") / "one.parquet").num_rows == 3
        assert list(home.staging.iterdir()) == []


def test_a_fault_of_the_reader_is_told_in_a_line_and_lands_nothing(cluster: Cluster, tmp_path: Path) -> None:
    with open_home(tmp_path / "home") as home:
        with pytest.raises(
            SeamlineError, match=r"Spark gave up .*ZeroDivisionError: a fault of the reader; "
        ) as caught:
            ingest(home, "wandb", ["one"], named, read_in_vain, cluster=cluster)
        assert "\n" not in str(caught.value)
        assert list(home.staging.iterdir()) == []


def test_a_home_that_the_cluster_does_not_share_is_told(tmp_path: Path) -> None:
    def elsewhere(work, items):
        return [work(item) if work is named else ("nowhere", {"history_config": 3}) for item in items]

    with open_home(tmp_path / "home") as home, pytest.raises(SeamlineError, match="a file system that the whole"):
        ingest(home, "wandb", ["one"], named, read_in_vain, cluster=elsewhere)


def test_a_method_that_runs_no_python_is_refused(shards: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEAMLINE_SPARK_METHOD", "thrift")
    done = seamline("ingest", "rollouts", shards, "--engine", "spark", home=home, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("error: SEAMLINE_SPARK_METHOD is thrift, which takes SQL only;")
    assert len(done.stderr.splitlines()) == 1


def test_the_profile_lets_a_lineage_have_more_than_a_hundred_restarts(cluster: Cluster) -> None:
    from pyspark.sql import SparkSession

    walk = "with recursive walk as (select 1 as n union all select n + 1 from walk where n < 150) select n from walk"
    assert SparkSession.getActiveSession().sql(walk).count() == 150
