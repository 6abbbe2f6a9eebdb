"""A campaign of 13 arms and 60 runs, landed to exported: equal to its truth, beside bare dbt and a pandas script.

With `--linear` it also builds 100 and 1,000 arms (5,000 runs, 20 million values) under a memory limit of 4 GB, which
takes long: `python -m tests.bench.bench_card --linear`.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import duckdb
import numpy as np
import pandas as pd

from simulate.curves.write import write
from tests.bench.measure import Measured, measure
from tests.python.support.curves_truth import declare, differences

ROOT = Path(__file__).resolve().parents[2]
EMPTY_PROJECT = """
name: empty
version: 1.0.0
config-version: 2
profile: empty
flags: {send_anonymous_usage_stats: false}
"""
EMPTY_PROFILE = """
empty: {target: duckdb, outputs: {duckdb: {type: duckdb, path: empty.duckdb, threads: 2}}}
"""


REPEATS = 3


class Ran(NamedTuple):
    """Wall seconds, processor seconds (children included) and peak resident megabytes of a command."""

    seconds: float
    cpu_seconds: float
    peak_mb: float


def run(command: Sequence[object], folder: Path = ROOT, **environment: str) -> Ran:
    """Run a command to its end; raises where it fails."""
    started = time.perf_counter()
    process = subprocess.Popen(
        [str(part) for part in command],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(ROOT)} | environment,
        stdout=subprocess.DEVNULL,
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, process.args)
    return Ran(time.perf_counter() - started, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def seamline(home: Path, *arguments: object, **environment: str) -> Ran:
    return run([sys.executable, "-m", "seamline", *arguments], SEAMLINE_HOME=str(home), **environment)


def land(home: Path, simulated: Path, scale: str) -> tuple[Measured, Ran]:
    """Simulate the W&B runs of a campaign and land them; returns what each took."""
    simulating = measure(write, simulated, scale, 0)
    seamline(home, "init")
    declare(home, simulated)
    return simulating, seamline(home, "ingest", "wandb", simulated / "wandb")


def check(home: Path, simulated: Path) -> None:
    """Raise where a mart is not what the truth says."""
    found = differences(home, simulated)
    if found:
        raise AssertionError(f"{len(found)} rows differ from the truth, first {found[:3]}")


def bare_dbt(folder: Path) -> Ran:
    """`dbt build` of a project without models."""
    folder.mkdir()
    (folder / "dbt_project.yml").write_text(EMPTY_PROJECT)
    (folder / "profiles.yml").write_text(EMPTY_PROFILE)
    return run([sys.executable, "-c", "from dbt.cli.main import cli; cli()", "build", "--profiles-dir", "."], folder)


def scan(landing: str) -> int:
    """Read every column of every landed table with DuckDB."""
    return sum(
        duckdb.execute("select count(*), count(columns(*)) from read_parquet(?)", [f"{folder}/*.parquet"]).fetchone()[0]
        for folder in sorted(Path(landing).iterdir())
        if any(folder.glob("*.parquet"))
    )


def check_equal(ours: Path, theirs: Path) -> int:
    """Raise where two folders of by-arm CSVs differ; NaN and an empty cell are one, as pandas reads them."""
    names = sorted(path.name for path in theirs.glob("*.csv"))
    if names != sorted(path.name for path in ours.glob("*.csv")):
        raise AssertionError(f"{ours} and {theirs} hold different arms")
    for name in names:
        mine, other = pd.read_csv(ours / name), pd.read_csv(theirs / name)
        if sorted(mine.columns) != sorted(other.columns):
            raise AssertionError(f"{name}: different columns")
        for column in mine.columns:
            a, b = mine[column].to_numpy(), other[column].to_numpy()
            if not np.array_equal(a, b, equal_nan=column != "run_id"):
                raise AssertionError(f"{name}: {column} differs")
    return len(names)


def card(folder: Path) -> None:
    """The card's campaign, landed to exported. The figures came after the bar was set: they are told apart."""
    home, simulated, exported = folder / "home", folder / "card", folder / "export"
    land(home, simulated, "card")
    seamline(folder / "other", "build")  # the project is parsed once for all homes
    best: dict[str, Ran] = {}
    for _ in range(REPEATS):
        shutil.rmtree(folder / "empty", ignore_errors=True)
        for made in (*home.glob("warehouse.duckdb*"), *exported.glob("*")):
            shutil.rmtree(made) if made.is_dir() else made.unlink()
        scanning = measure(scan, str(home / "landing"), one_core=False)
        took = {
            "bare": bare_dbt(folder / "empty"),
            "scan": Ran(scanning.seconds, scanning.cpu_seconds, scanning.peak_mb),
            "build": seamline(home, "build"),
            "export": seamline(home, "export", exported, "--only", "curves", "--no-figures"),
            "with figures": seamline(home, "export", folder / "figures", "--only", "curves"),
        }
        best = {name: min(ran, best.get(name, ran)) for name, ran in took.items()}
    check(home, simulated)
    print(f"card: every curve, row label, arm and finding equals the truth; best of {REPEATS}, taken in turns")
    bare = [sum(values) for values in zip(*(best[name][:2] for name in ("bare", "scan")), strict=True)]
    print(f"bare dbt build and scan  {bare[0]:6.1f} s, {bare[1]:5.1f} s of processor")
    for export in ("export", "with figures"):
        ours = [sum(values) for values in zip(*(best[name][:2] for name in ("build", export)), strict=True)]
        peak = max(best["build"].peak_mb, best[export].peak_mb)
        print(
            f"landed to exported       {ours[0]:6.1f} s, {ours[1]:5.1f} s of processor "
            f"(build {best['build'].seconds:.1f} s, {export} {best[export].seconds:.1f} s; peak {peak:.0f} MB): "
            f"{ours[0] / bare[0]:.1f} x, {ours[1] / bare[1]:.1f} x of processor"
        )
    arguments = [home / "landing", home / "declared", folder / "pandas"]
    pandas = run([sys.executable, "-m", "tests.bench.pandas_stitch", *arguments])
    count = check_equal(exported / "by-arm", folder / "pandas")
    print(
        f"pandas script            {pandas.seconds:6.1f} s, {pandas.cpu_seconds:5.1f} s of processor (peak "
        f"{pandas.peak_mb:.0f} MB): the same {count} by-arm CSVs, without labels, tests and by-run files"
    )


def linear(folder: Path) -> None:
    """100 and 1,000 arms under 4 GB: totals equal the truth, time grows with the arms."""
    took = {}
    for count in (100, 1_000):
        home, simulated = folder / f"home-{count}", folder / f"arms-{count}"
        simulating, landing = land(home, simulated, str(count))
        built = seamline(home, "build", SEAMLINE_MEMORY="4GB")
        check(home, simulated)
        with duckdb.connect(str(home / "warehouse.duckdb"), read_only=True) as warehouse:
            values = warehouse.execute("select count(*) from arm_metrics").fetchone()[0]
        took[count] = built
        print(
            f"{count:,} arms, {5 * count:,} runs, {values:,} values: simulated in {simulating.seconds:.0f} s, "
            f"landed in {landing.seconds:.0f} s, built in {built.seconds:.0f} s "
            f"({built.cpu_seconds:.0f} s of processor; peak {built.peak_mb:.0f} MB)",
            flush=True,
        )
        shutil.rmtree(home)
        shutil.rmtree(simulated)
    few, many = took[100], took[1_000]
    print(
        f"1,000 arms take {many.seconds / few.seconds:.1f} x as long to build as 100, "
        f"{many.cpu_seconds / few.cpu_seconds:.1f} x of processor"
    )


def main(arguments: Sequence[str] = ()) -> None:
    """Print figures; raises where a result is wrong."""
    with tempfile.TemporaryDirectory() as folder:
        card(Path(folder))
        if "--linear" in arguments:
            linear(Path(folder))


if __name__ == "__main__":
    main(sys.argv[1:])
