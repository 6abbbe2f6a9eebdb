"""What a Spark build says where Spark can't run: one line that says what to do. None of these needs Spark itself."""

import socket
from importlib.util import find_spec
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from homes import spark
from homes.errors import SeamlineError
from homes.paths import Home
from homes.spark import check_engine
from tests.python.support.command import seamline


@pytest.fixture
def java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Makes a Java that tells the version given, with pyspark installed as far as anyone can tell."""
    monkeypatch.setattr(spark, "find_spec", lambda name: name)
    monkeypatch.setattr(spark, "version", lambda name: "4.1.0")
    for name in ("SEAMLINE_SPARK_METHOD", "SEAMLINE_SPARK_MASTER", "SEAMLINE_SPARK_HOST", "SEAMLINE_SPARK_PORT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))

    def install(version: str) -> None:
        program = tmp_path / "bin" / "java"
        program.parent.mkdir()
        program.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\" 2022-01-01' >&2\n")
        program.chmod(0o755)

    return install


@pytest.fixture
def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def test_java_17_or_later_will_do(java) -> None:
    java("17.0.1")
    check_engine()


@pytest.mark.parametrize("installed", ["3.5.1", "4.0.2"])
def test_a_spark_that_lacks_what_the_models_use(java, installed: str, monkeypatch: pytest.MonkeyPatch) -> None:
    java("21")
    monkeypatch.setattr(spark, "version", lambda name: installed)
    with pytest.raises(SeamlineError, match=rf"pyspark {installed} lacks the recursive queries.*since 4.1; run"):
        check_engine()


@pytest.mark.parametrize("version", ["11.0.2", "1.8.0_292"])
def test_an_older_java_is_named(java, version: str) -> None:
    java(version)
    with pytest.raises(SeamlineError, match=rf"version \"{version}\".*Spark needs Java 17"):
        check_engine()


def test_no_java(java) -> None:
    with pytest.raises(SeamlineError, match=r"no Java at .*/bin/java.* install Java 17 or set JAVA_HOME"):
        check_engine()


def test_a_master_that_does_not_answer(java, free_port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    java("21")
    monkeypatch.setenv("SEAMLINE_SPARK_MASTER", f"spark://127.0.0.1:{free_port}")
    with pytest.raises(SeamlineError, match=rf"no Spark master answers at 127.0.0.1:{free_port} .*SEAMLINE_SPARK_MAS"):
        check_engine()


@pytest.mark.parametrize("master", ["somewhere:7077", "local[", "spark"])
def test_a_master_that_is_none(java, master: str, monkeypatch: pytest.MonkeyPatch) -> None:
    java("21")
    monkeypatch.setenv("SEAMLINE_SPARK_MASTER", master)
    with pytest.raises(SeamlineError, match=r"name local\[N\], spark://HOST:PORT"):
        check_engine()


@pytest.mark.parametrize("method", ["thrift", "http"])
def test_a_server_that_does_not_answer(java, method: str, free_port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEAMLINE_SPARK_METHOD", method)
    monkeypatch.setenv("SEAMLINE_SPARK_HOST", "127.0.0.1")
    monkeypatch.setenv("SEAMLINE_SPARK_PORT", str(free_port))
    with pytest.raises(SeamlineError, match=rf"no Spark server answers at 127.0.0.1:{free_port} .*SEAMLINE_SPARK_HOST"):
        check_engine()


@pytest.mark.skipif(find_spec("pyspark") is not None, reason="pyspark is installed")
def test_without_the_extra_the_build_says_how_to_install_it(home: Path) -> None:
    done = seamline("build", "--target", "spark", home=home, check=False)
    assert done.returncode == 1 and done.stderr.count("\n") == 1
    assert "pip install -r requirements-spark.lock" in done.stderr


def test_an_export_of_what_spark_never_built(home: Path, tmp_path: Path) -> None:
    done = seamline("export", "--target", "spark", tmp_path / "out", home=home, check=False)
    assert done.returncode == 1 and not (tmp_path / "out").exists()
    assert done.stderr.endswith("nothing is built on Spark yet; run `seamline build --target spark`\n")


def test_the_warehouse_of_an_older_version_says_what_to_do(home: Path, tmp_path: Path) -> None:
    seamline("init", home=home)
    for mart in ("arms", "run_rows"):
        folder = Home(home).path / "spark" / "warehouse" / mart
        folder.mkdir(parents=True)
        pq.write_table(pq.read_table(home / "landing" / "history_logs" / "_empty.parquet"), folder / "a.parquet")
    done = seamline("export", "--target", "spark", tmp_path / "out", home=home, check=False)
    assert done.returncode == 1 and "run `seamline build --target spark`" in done.stderr
