"""`make spark-cluster`: ingest and build on a cluster that loses a worker in the middle of each, against one machine.

`python -m tests.spark [FOLDER]` keeps the homes and logs in FOLDER.
"""

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import duckdb

from homes.errors import SeamlineError
from homes.paths import PROJECT, Home
from homes.spark import check_engine
from tests.python.support.parity import differences, landed_files, mart_names
from tests.spark.cluster import kill_session, standalone_cluster

SHARDS_WRITTEN = 8
MODELS_BUILT = 30
"""How far the ingest and the build are when they lose a worker."""


def main(folder: Path) -> None:
    check_engine()
    campaign, on_cluster, here = folder / "campaign", Home(folder / "on-cluster"), Home(folder / "here")
    _run(folder, ["simulate", campaign, "--scale", "small", "--seed", "8"])
    _run_losing_a_worker(
        folder / "ingest",
        on_cluster,
        ["ingest", "rollouts", campaign / "rollouts", "--engine", "spark"],
        lambda: len(list(on_cluster.staging.glob("*"))),
        SHARDS_WRITTEN,
        "shards written aside",
    )
    _run(folder, ["ingest", "auto", campaign], on_cluster)  # the other kinds; of the rollouts nothing is new
    _run(folder, ["ingest", "auto", campaign], here)
    wrong = landing_differences(on_cluster, here)
    print(f"landed files: {len(landed_files(here.path))}, {len(wrong)} differ", flush=True)

    _run_losing_a_worker(
        folder / "build",
        on_cluster,
        ["build", "--target", "spark"],
        lambda: len(list((on_cluster.path / "spark" / "building" / "main.db").glob("*/_SUCCESS"))),
        MODELS_BUILT,
        "tables written",
    )
    take_times(on_cluster, here)
    _run(folder, ["build"], here)
    names, wrong_marts = mart_differences(on_cluster, here)
    print(f"marts: {len(names)}, {len(names) - len(wrong_marts)} equal", flush=True)
    if wrong or wrong_marts:
        raise SeamlineError("the cluster's tables are other than this machine's: " + "; ".join([*wrong, *wrong_marts]))


def landing_differences(on_cluster: Home, here: Home) -> list[str]:
    """The landed files that differ, byte by byte, or are only in one of the homes."""
    theirs, mine = landed_files(on_cluster.path), landed_files(here.path)
    return sorted(name for name in theirs.keys() | mine.keys() if theirs.get(name) != mine.get(name))


def take_times(on_cluster: Home, here: Home) -> None:
    """Give the one home the times at which the other's files landed: a mart shows them, and nothing else differs."""
    for record in on_cluster.table("landed_sources").glob("*.parquet"):
        (here.table("landed_sources") / record.name).write_bytes(record.read_bytes())


def mart_differences(on_cluster: Home, here: Home) -> tuple[list[str], list[str]]:
    """The names of the marts, and what differs in those that do."""
    with duckdb.connect(str(here.warehouse), read_only=True) as warehouse:
        names = set(mart_names(warehouse))
        built = {folder.name for folder in on_cluster.spark_warehouse.iterdir()}
        found = {
            name: differences(warehouse, name, on_cluster.spark_warehouse / name) for name in sorted(names & built)
        }
    only = [f"{name}: built by one engine only" for name in sorted(names ^ built)]
    return sorted(names), only + [f"{name}: {what[0]}" for name, what in found.items() if what]


def _run_losing_a_worker(
    folder: Path, home: Home, arguments: list[object], progress: Callable[[], int], enough: int, what: str
) -> None:
    """Run a command on a cluster of two workers, and kill one when `progress` is `enough`."""
    with standalone_cluster(2, folder) as cluster:

        def watch(process: subprocess.Popen, started: float) -> None:
            while process.poll() is None and progress() < enough:
                time.sleep(0.02)
            if process.poll() is None:
                done = progress()
                cluster.kill_worker(0)
                print(f"  worker 0 killed after {time.monotonic() - started:.1f} s, {done} {what}", flush=True)

        _run(folder, arguments, home, cluster.environment, watch)
        if "Lost executor" not in (folder / f"{arguments[0]}.err").read_text():
            raise SeamlineError(f"the {arguments[0]} ended before its worker was killed: nothing is shown")


def _run(
    folder: Path,
    arguments: list[object],
    home: Home | None = None,
    settings: dict[str, str] | None = None,
    watch: Callable[[subprocess.Popen, float], None] = lambda process, started: None,
) -> None:
    """Run a `seamline` command to its end, with its output in `folder`; it does not outlive this process."""
    started = time.monotonic()
    out, err = folder / f"{arguments[0]}.out", folder / f"{arguments[0]}.err"
    environment = os.environ | {"PYTHONPATH": str(PROJECT)} | (settings or {})
    if home:
        environment["SEAMLINE_HOME"] = str(home.path)
    with open(out, "w") as stdout, open(err, "w") as stderr:
        command = [sys.executable, "-m", "seamline", *map(str, arguments)]
        process = subprocess.Popen(command, env=environment, stdout=stdout, stderr=stderr, start_new_session=True)
    try:
        watch(process, started)
        code = process.wait()
    finally:
        kill_session(process)
    label = f"seamline {' '.join(map(str, arguments))}".replace(f"{folder}/", "")
    if code:
        raise SeamlineError(f"{label}: exit {code}\n{out.read_text()}{err.read_text()}")
    print(f"{label}: {time.monotonic() - started:.1f} s\n  {out.read_text().splitlines()[0]}", flush=True)


def _on_terminate(*_: object) -> None:
    sys.exit(143)  # so that what was started is stopped


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, _on_terminate)
    try:
        if sys.argv[1:]:
            Path(sys.argv[1]).mkdir(parents=True, exist_ok=True)
            main(Path(sys.argv[1]).resolve())
        else:
            with tempfile.TemporaryDirectory() as folder:
                main(Path(folder).resolve())
    except SeamlineError as error:
        sys.exit(f"error: {error}")
