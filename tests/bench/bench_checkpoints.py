"""100,000 checkpoints in one sweep, landed and built: every hour and cost as planted, and linear in their number.

Beside it stands the least that any script must do: walk the same folders and parse the same JSON.
"""

import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

import duckdb

from tests.bench.measure import measure

ROOT = Path(__file__).resolve().parents[2]
SMALL, LARGE = 20_000, 100_000
CELLS, FAMILIES = 10, 10
CALLS = 10_000
START = datetime(2026, 8, 3, 6, tzinfo=UTC)
SPACING_SECONDS = 90
"""Between neighbouring checkpoints of a cell: no three of them lie within a minute."""
MAY_GROW = 1.5
"""How much more a checkpoint may cost among 100,000 than among 20,000."""


class Ran(NamedTuple):
    """Seconds on the clock, seconds of processors, and peak resident megabytes of a command."""

    seconds: float
    cpu_seconds: float
    peak_mb: float


def main() -> None:
    """Print what each size takes, and raise where a value is not as planted or growth is not linear."""
    folder = Path(tempfile.mkdtemp(prefix="bench-checkpoints-"))
    try:
        empty = seamline(folder / "empty", "build")
        print(f"a build of nothing: {empty.seconds:.1f} s ({empty.cpu_seconds:.1f} s of processors)")
        costs = {count: measured(folder / str(count), count, empty) for count in (SMALL, LARGE)}
    finally:
        shutil.rmtree(folder)
    growth = costs[LARGE] / costs[SMALL]
    print(f"ingest and build: a checkpoint costs {growth:.2f} times as much among {LARGE:,} as among {SMALL:,}")
    if growth > MAY_GROW:
        raise AssertionError(f"not linear: {growth:.2f} > {MAY_GROW}")


def measured(folder: Path, count: int, empty: Ran) -> float:
    """Processor seconds per checkpoint of ingest and build, a build of nothing taken off."""
    per_cell = count // CELLS
    sweep, home = folder / "lab", folder / "home"
    write(sweep, per_cell)
    floor = measure(walk, sweep)
    seamline(home, "init")
    (home / "declared" / "baselines.csv").write_text("suite,model_id,score,harness,source\nswe,base,10,pi,bench\n")
    ingest = [seamline(home, "ingest", kind, folder / "lab") for kind in ("checkpoints", "driver-usage", "scores")]
    again = seamline(home, "ingest", "checkpoints", folder / "lab")
    build = seamline(home, "build")
    check(home, per_cell)
    for name, ran in zip(("checkpoints", "driver usage", "scores"), ingest, strict=True):
        print(f"{count:,}: ingest of {name}: {told(ran)}")
    print(f"{count:,}: ingest again, nothing changed: {told(again)}")
    print(f"{count:,}: build: {told(build)}")
    print(f"{count:,}: walking and parsing alone: {floor.seconds:.1f} s")
    return (sum(ran.cpu_seconds for ran in ingest) + build.cpu_seconds - empty.cpu_seconds) / count


def told(ran: Ran) -> str:
    return f"{ran.seconds:.1f} s ({ran.cpu_seconds:.1f} s of processors), {ran.peak_mb:,.0f} MB"


def write(sweep: Path, per_cell: int) -> None:
    """A sweep whose checkpoint n of a cell was written n spacings after the start, and scored n."""
    config = json.dumps({"model_type": "qwen3_5", "_name_or_path": "Qwen/Qwen3.5-9B-Base"})
    generation = json.dumps({"eos_token_id": [248044, 248046]})
    end = per_cell * SPACING_SECONDS
    for cell in range(CELLS):
        folder = sweep / f"cell-{cell}"
        for n in range(1, per_cell + 1):
            step = folder / "checkpoints" / f"family-{n % FAMILIES}" / str(n)
            step.mkdir(parents=True)
            written = START.timestamp() + n * SPACING_SECONDS
            for name, content in (
                ("config.json", config),
                ("generation_config.json", generation),
                ("w.safetensors", "\2\0\0\0\0\0\0\0{}"),
            ):
                (step / name).write_text(content)
                os.utime(step / name, (written, written))
        run = {"cell": folder.name, "started_at": moment(0), "ended_at": moment(end)}
        (folder / "run.json").write_text(json.dumps(run))
        (folder / "driver").mkdir()
        with open(folder / "driver" / "usage.jsonl", "w") as handle:
            for call in range(CALLS):
                at = moment(call * end / CALLS)
                handle.write(json.dumps({"timestamp": at, "input_tokens": 9, "output_tokens": 1}) + "\n")
        with open(folder / "scores.jsonl", "w") as handle:
            for n in range(1, per_cell + 1):
                named = {"cell": folder.name, "family": f"family-{n % FAMILIES}", "step": n}
                handle.write(json.dumps(named | {"suite": "swe", "score": n, "harness": "pi"}) + "\n")


def moment(seconds: float) -> str:
    return (START + timedelta(seconds=seconds)).isoformat()


def walk(sweep: Path) -> int:
    """The least that reading these checkpoints takes."""
    read = 0
    for base, _, files in os.walk(sweep):
        for name in files:
            path = os.path.join(base, name)
            os.stat(path)
            if name.endswith(".json"):
                with open(path, "rb") as handle:
                    json.loads(handle.read())
                read += 1
    return read


def seamline(home: Path, *arguments: object) -> Ran:
    """Run a command to its end; raises where it fails."""
    started, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    process = subprocess.Popen(
        [sys.executable, "-m", "seamline", *map(str, arguments)],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT), "SEAMLINE_HOME": str(home)},
        stdout=subprocess.DEVNULL,
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, process.args)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Ran(time.perf_counter() - started, cpu, usage.ru_maxrss / 1024)


def check(home: Path, per_cell: int) -> None:
    """Raise where a checkpoint's hour, spending or cost is not what was planted."""
    # Call c of 10,000 is made at c / 10,000 of the run and spends 10; checkpoint n is written at n / per_cell of it.
    wrong = f"""
        select count(*), count(*) filter (
            where hour_source <> 'mtime' or abs(hour - step * {SPACING_SECONDS} / 3600.0) > 1e-9 or not eos_ok
            or driver_tokens_at_hour is distinct from 10 * least({CALLS}, step * {CALLS} // {per_cell} + 1)
            or cost_status is distinct from case when step > 10 then 'ok' else 'no_gain' end
            or (step > 10 and abs(cost_per_point - driver_tokens_at_hour / (step - 10)) > 1e-9)
        )
        from checkpoints left join checkpoint_scores using (model_id)
    """
    with duckdb.connect(str(home / "warehouse.duckdb"), read_only=True) as warehouse:
        found = warehouse.execute(wrong).fetchone()
    if found != (per_cell * CELLS, 0):
        raise AssertionError(f"{found[1]} of {found[0]} checkpoints are not as planted")


if __name__ == "__main__":
    main()
