"""The Spark engine of this machine: what must be there before it is started, and its end."""

import os
import re
import socket
import subprocess
import warnings
from importlib.metadata import version
from importlib.util import find_spec

from homes.errors import SeamlineError

OLDEST_SPARK = (4, 1)


def check_engine() -> None:
    """Raises SeamlineError where pyspark or Java is missing or too old, or a master or server does not answer."""
    if find_spec("pyspark") is None or find_spec("dbt.adapters.spark") is None:
        raise SeamlineError("Spark is not installed; run `.venv/bin/python -m pip install -r requirements-spark.lock`")
    if tuple(map(int, version("pyspark").split(".")[:2])) < OLDEST_SPARK:
        oldest = ".".join(map(str, OLDEST_SPARK))
        raise SeamlineError(
            f"pyspark {version('pyspark')} lacks the recursive queries of the stitch, which Spark has since {oldest}; "
            "run `.venv/bin/python -m pip install -r requirements-spark.lock`"
        )
    # Said of pandas 3, which Spark loads and nothing here uses
    warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
    method = os.environ.get("SEAMLINE_SPARK_METHOD", "session")
    if method != "session":
        host = os.environ.get("SEAMLINE_SPARK_HOST", "localhost")
        _check_answers(host, os.environ.get("SEAMLINE_SPARK_PORT", "10000"), "Spark server", "SEAMLINE_SPARK_HOST")
        return
    _check_java()
    master = os.environ.get("SEAMLINE_SPARK_MASTER", "local[2]")
    if master.startswith("spark://"):
        host, _, port = master.removeprefix("spark://").split(",")[0].rpartition(":")
        _check_answers(host, port, "Spark master", "SEAMLINE_SPARK_MASTER")
    elif not re.match(r"local(\[.+\])?$|yarn$|k8s://", master):
        raise SeamlineError(f"SEAMLINE_SPARK_MASTER is {master!r}: name local[N], spark://HOST:PORT, yarn or k8s://...")


def _check_java() -> None:
    home = os.environ.get("JAVA_HOME")
    java = f"{home}/bin/java" if home else "java"
    try:
        done = subprocess.run([java, "-version"], capture_output=True, text=True)
    except OSError as error:
        raise SeamlineError(f"no Java at `{java}`, which Spark needs; install Java 17 or set JAVA_HOME") from error
    version = re.search(r'version "(\d+)', done.stderr)
    if not version or int(version[1]) < 17:
        found = done.stderr.splitlines()[0] if done.stderr else "no version"
        raise SeamlineError(f"`{java}` is {found}; Spark needs Java 17 or later: install it or set JAVA_HOME")


def _check_answers(host: str, port: str, what: str, variable: str) -> None:
    try:
        socket.create_connection((host, int(port)), timeout=5).close()
    except (OSError, ValueError) as error:
        raise SeamlineError(f"no {what} answers at {host}:{port} ({error}); start it or correct {variable}") from error


def stop_session() -> None:
    """Stop this process's Spark session, if it has one."""
    from pyspark.sql import SparkSession

    session = SparkSession.getActiveSession()
    if session:
        session.stop()
