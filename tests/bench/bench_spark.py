"""The marts on a Spark cluster on loopback: campaigns of 1x, 2x, 4x on one worker and on two, with what they shuffle.

`python -m tests.bench.bench_spark` (`make bench-spark`); DuckDB's build of the same homes stands beside.
"""

import json
import os
import re
import shutil
import tempfile
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import duckdb

from simulate.curves.write import write
from tests.bench.bench_card import Ran, seamline
from tests.bench.bench_rollouts import write_evidence
from tests.python.support.curves_truth import declare
from tests.python.support.models import MARTS
from tests.spark.cluster import standalone_cluster

ARMS = int(os.environ.get("BENCH_SPARK_ARMS", 50))
ROLLOUTS = int(os.environ.get("BENCH_SPARK_ROLLOUTS", 16_000))
"""In the campaign of 1x."""
FACTORS = (1, 2, 4)
WRITTEN = re.compile(r"InsertIntoHadoopFsRelationCommand.*?/main\.db/(\w+)", re.DOTALL)
"""In a plan: the table it writes."""


class Shuffled(NamedTuple):
    """What the tasks of a build wrote for others to read, and their seconds: of all, by domain, and of the tables that
    shuffle most."""

    megabytes: float
    rows: int
    task_seconds: float
    domains: dict[str, tuple[float, float]]
    largest: list[tuple[str, float]]


def make_home(home: Path, factor: int) -> dict[str, int]:
    """A home of `factor` times the arms and rollouts; returns the rows of its largest tables."""
    simulated = home.with_name(f"{home.name}-simulated")
    write(simulated, str(ARMS * factor), 0)
    seamline(home, "init")
    declare(home, simulated)
    seamline(home, "ingest", "wandb", simulated / "wandb")
    shutil.rmtree(simulated)
    write_evidence(home, ROLLOUTS * factor)
    tables = ("history_values", "rollout_records")
    return {name: _rows(home / "landing" / name) for name in tables}


def _rows(folder: Path) -> int:
    return duckdb.execute("select count(*) from read_parquet(?)", [f"{folder}/*.parquet"]).fetchone()[0]


def log_events(folder: Path) -> dict[str, str]:
    """The environment in which Spark writes its event log below `folder`."""
    (folder / "conf").mkdir(parents=True)
    (folder / "events").mkdir()
    settings = {
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": f"file:{folder / 'events'}",
        "spark.eventLog.compress": "false",
        "spark.eventLog.rolling.enabled": "false",
    }
    lines = "".join(f"{name} {value}\n" for name, value in settings.items())
    (folder / "conf" / "spark-defaults.conf").write_text(lines)
    return {"SPARK_CONF_DIR": str(folder / "conf")}


def shuffled(folder: Path) -> Shuffled:
    """Sums over the tasks in the event log below `folder`. Format: Spark's JsonProtocol."""
    tables, stages = {}, {}
    rows, seconds, megabytes = 0, Counter(), Counter()
    (log,) = (folder / "events").iterdir()
    with open(log, encoding="utf-8") as lines:
        for event in map(json.loads, lines):
            if event["Event"].endswith("SparkListenerSQLExecutionStart"):
                found = WRITTEN.search(event["physicalPlanDescription"])
                tables[str(event["executionId"])] = found[1] if found else "no table"
            elif event["Event"] == "SparkListenerJobStart":
                execution = event["Properties"].get("spark.sql.execution.id")
                stages |= dict.fromkeys(event["Stage IDs"], execution)
            elif event["Event"] == "SparkListenerTaskEnd" and event.get("Task Metrics"):
                table = tables.get(stages.get(event["Stage ID"]), "no table")
                written = event["Task Metrics"]["Shuffle Write Metrics"]
                rows += written["Shuffle Records Written"]
                megabytes[table] += written["Shuffle Bytes Written"] / 1e6
                seconds[table] += event["Task Metrics"]["Executor Run Time"] / 1e3
    domains: dict[str, tuple[float, float]] = {}
    for table in seconds:
        domain = MARTS.get(table, "tests")
        before = domains.get(domain, (0.0, 0.0))
        domains[domain] = (before[0] + seconds[table], before[1] + megabytes[table])
    return Shuffled(megabytes.total(), rows, seconds.total(), domains, megabytes.most_common(4))


def run(folder: Path, home: Path, workers: int) -> tuple[Ran, Shuffled]:
    """One build on a fresh cluster of `workers` workers of one core."""
    place = folder / f"{home.name}-{workers}"
    with standalone_cluster(workers, place / "cluster", executor_memory="1g") as cluster:
        took = seamline(home, "build", "--target", "spark", **cluster.environment | log_events(place))
    return took, shuffled(place)


def main() -> None:
    """Print every figure; nothing is asserted."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        print("seconds of `seamline build`; shuffle is what tasks wrote for other tasks")
        print(
            f"{'':>4} {'arms':>5} {'history values':>15} {'rollouts':>9} {'engine':>14} {'s':>6} {'MB':>8} {'rows':>12}"
        )
        for factor in FACTORS:
            home = folder / f"home-{factor}"
            rows = make_home(home, factor)
            size = f"{factor:>3}x {ARMS * factor:>5} {rows['history_values']:>15,} {rows['rollout_records']:>9,}"
            seamline(home, "build")
            print(f"{size} {'DuckDB':>14} {seamline(home, 'build').seconds:6.0f}", flush=True)
            for workers in (1, 2):
                took, found = run(folder, home, workers)
                engine = f"{workers} worker{'s' if workers > 1 else ''}"
                print(f"{size} {engine:>14} {took.seconds:6.0f} {found.megabytes:8.0f} {found.rows:12,}")
                print(f"{'':>8}{found.task_seconds:.0f} s of tasks: ", end="")
                print(", ".join(f"{name} {s:.0f} s {mb:.0f} MB" for name, (s, mb) in sorted(found.domains.items())))
                largest = ", ".join(f"{name} {mb:.0f} MB" for name, mb in found.largest)
                print(f"{'':>8}most shuffled by {largest}", flush=True)
            shutil.rmtree(home)


if __name__ == "__main__":
    main()
