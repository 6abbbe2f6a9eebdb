"""Runs readers on a Spark cluster: a task for each source, Arrow batches in and out."""

import os
import pickle
import re
import shutil
import signal
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, TypeVar

import pyarrow as pa

from homes.errors import SeamlineError
from homes.paths import PROJECT, Home
from homes.spark import check_engine, stop_session
from ingest.run import Cluster

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

T = TypeVar("T")
R = TypeVar("R")

SCHEMA = "number bigint, outcome binary, is_raised boolean"

TASKS_A_JOB = 1000
"""What has landed of a long ingest stays landed when it is killed: results come back with the end of each Spark job."""


@contextmanager
def spark_cluster(home: Home) -> Iterator[Cluster]:
    """A function for `ingest` that maps over the cluster of the profile's `spark` target, until the block ends.

    Raises SeamlineError where Spark is missing, the master does not answer, or the method can't run Python.
    """
    method = os.environ.get("SEAMLINE_SPARK_METHOD", "session")
    if method != "session":
        raise SeamlineError(
            f"SEAMLINE_SPARK_METHOD is {method}, which takes SQL only; unset it and name a master with "
            "SEAMLINE_SPARK_MASTER, or land with --engine local"
        )
    check_engine()
    local = home.path / "spark" / "local"
    local.mkdir(parents=True, exist_ok=True)
    try:
        yield partial(_map, _session(home))
    finally:
        stop_session()
        shutil.rmtree(local, ignore_errors=True)


def _session(home: Home) -> "SparkSession":
    """A session with the settings of the profile's `spark` target; executors run this Python on this checkout."""
    import yaml
    from jinja2 import Environment
    from pyspark.sql import SparkSession

    known = os.environ | {
        "SEAMLINE_CHECKOUT": PROJECT.as_uri(),
        "SEAMLINE_HOME": str(home.path),
        "SEAMLINE_SPARK_WAREHOUSE": str(home.path / "spark" / "local" / "warehouse"),
    }
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    profile = yaml.safe_load((PROJECT / "profiles.yml").read_text())["seamline"]["outputs"]["spark"]
    builder = SparkSession.builder.config("spark.executorEnv.PYTHONPATH", str(PROJECT))
    for name, text in profile["server_side_parameters"].items():
        value = Environment().from_string(text).render(env_var=lambda key, default: known.get(key, default))
        builder = builder.config(name, value)
    on_interrupt = signal.getsignal(signal.SIGINT)
    session = builder.getOrCreate()
    signal.signal(signal.SIGINT, on_interrupt)  # Spark put its own
    return session


def _map(session: "SparkSession", work: Callable[[T], R], items: list[T]) -> Iterator[R]:
    """What `work` makes of each item, in their order; what it raises about its input is raised here."""
    from pyspark.errors import PySparkException

    for start in range(0, len(items), TASKS_A_JOB):
        some = items[start : start + TASKS_A_JOB]
        numbers = session.range(0, len(some), 1, len(some))  # a partition for each
        try:
            rows = numbers.mapInArrow(_task(work, some), SCHEMA).toArrow()
        except PySparkException as error:
            raise SeamlineError(_reason(error)) from error
        for row in rows.sort_by("number").to_pylist():
            outcome = pickle.loads(row["outcome"])
            if row["is_raised"]:
                raise outcome
            yield outcome


def _task(work: Callable[[T], R], items: list[T]) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number in batch.column("id").to_pylist():
                outcome, is_raised = _attempt(work, items[number])
                row = {"number": [number], "outcome": [pickle.dumps(outcome)], "is_raised": [is_raised]}
                yield pa.RecordBatch.from_pydict(row)

    return run


def _attempt(work: Callable[[T], R], item: T) -> tuple[R | Exception, bool]:
    """What came of it, and whether that was raised. Anything but a fault of the input fails the task, which Spark tries
    again elsewhere."""
    try:
        return work(item), False
    except (SeamlineError, FileNotFoundError, PermissionError) as error:
        return error, True


def _reason(error: Exception) -> str:
    """One line: the last that a Python traceback in Spark's message has, else its first."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    raised = [line for line in lines if re.match(r"[\w.]+(Error|Exception|Exit|Interrupt)\b", line)]
    found = raised[-1] if raised else lines[0] if lines else type(error).__name__
    return (
        f"Spark gave up on a source: {found}; executors need the home, the sources, this checkout and its Python under "
        "the paths that they have here"
    )
