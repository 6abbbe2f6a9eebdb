"""A campaign in rounds, from its files to an export, beside pandas reading the same files.

`python -m tests.bench.bench_rounds 1000` is the full size: 80,000 candidates of 20 KB, 400,000 teacher calls (minutes).
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import psutil

from simulate.rounds.plan import RUN, Shape
from simulate.rounds.write import write_shape

ROUNDS = 30
ROOT = Path(__file__).resolve().parents[2]
INGESTS = ("rounds", "native-metrics", "teacher-calls", "wandb")

PANDAS = """
import sys
from pathlib import Path
import pandas as pd

run = Path(sys.argv[1])
parts = [pd.read_json(p, lines=True) for p in sorted(run.glob("rollout/*/round_*[0-9]/siblings.jsonl"))
         if "attempt" not in p.parent.name]
candidates = pd.concat(parts, ignore_index=True)
validity = candidates.groupby(["run_id", "step", "task"])["valid"].agg(["size", "sum"])
calls = pd.concat([pd.read_json(p, lines=True) for p in sorted(run.glob("teacher_calls/worker-[01]/*.jsonl"))])
calls = calls.drop_duplicates("call_id", keep="last")
usage = calls["response"].map(lambda r: (r.get("usage") if isinstance(r, dict) else None) or {})
tokens = usage.map(lambda u: u.get("input_tokens", u.get("prompt_tokens")))
costs = calls.assign(tokens=tokens).groupby(["step", "role"])["tokens"].sum()
print(len(validity), len(costs))
"""


class Timed(NamedTuple):
    """Wall and processor seconds, and peak megabytes resident, of a command and its children together."""

    seconds: float
    processor_seconds: float
    peak_mb: float

    def __str__(self) -> str:
        return f"{self.seconds:7.1f} s  processor {self.processor_seconds:6.1f} s  peak {self.peak_mb:6.0f} MB"


def timed(command: list[str], home: Path) -> Timed:
    """Run a command that must succeed."""
    environment = os.environ | {"SEAMLINE_HOME": str(home), "PYTHONPATH": str(ROOT)}
    started, before, peak = time.perf_counter(), os.times(), 0
    with open(os.devnull, "w") as nothing:
        process = subprocess.Popen([sys.executable, *command], env=environment, cwd=ROOT, stdout=nothing)
    root = psutil.Process(process.pid)
    while process.poll() is None:
        peak = max(peak, _resident(root))
        time.sleep(0.05)
    if process.returncode:
        raise SystemExit(f"{command} failed")
    after = os.times()
    used = after.children_user + after.children_system - before.children_user - before.children_system
    return Timed(time.perf_counter() - started, used, peak / 2**20)


def _resident(root: psutil.Process) -> int:
    """Bytes of a process and its children; memory that they share (forked workers do) is counted once."""
    total = 0
    try:
        for process in [root, *root.children(recursive=True)]:
            memory = process.memory_full_info()
            total += memory.pss if hasattr(memory, "pss") else memory.rss
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        pass
    return total


def main(rounds: int = ROUNDS) -> None:
    """Print seconds and peak memory of each step."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        write_shape(place, Shape(rounds, 20_000, 78), 0, has_truth=False)
        home, runs = place / "home", place / "rounds"
        size = sum(p.stat().st_size for p in runs.rglob("*") if p.is_file()) / 1e6
        print(f"{rounds} rounds: {80 * rounds:,} candidates, {400 * rounds:,} teacher calls, {size:,.0f} MB")
        subprocess.run(
            [sys.executable, "-m", "seamline", "init", "--home", home], check=True, cwd=ROOT, capture_output=True
        )
        for path in (place / "declared").glob("*.csv"):
            (home / "declared" / path.name).write_text(path.read_text())
        steps = {f"ingest {kind}": ["ingest", kind, str(runs)] for kind in INGESTS}
        steps |= {"build": ["build"]}
        steps |= {"export": ["export", str(place / "export"), "--only", "rounds,teacher", "--limit-gib", "100"]}
        results = []
        for name, arguments in steps.items():
            results.append(timed(["-m", "seamline", *arguments], home))
            print(f"  {name:22} {results[-1]}", flush=True)
        seconds, used = sum(r.seconds for r in results), sum(r.processor_seconds for r in results)
        print(f"  {'seamline, all of it':22} {Timed(seconds, used, max(r.peak_mb for r in results))}")
        decision = json.loads((place / "export" / "tables" / "decision.json").read_text())
        windows = {w["window_name"]: (w["valid_count"], w["candidate_count"]) for w in decision["runs"][0]["windows"]}
        assert windows == {"baseline": (36, 240), "primary": (80, 240)}, windows
        print(f"  {'pandas, reading alone':22} {timed(['-c', PANDAS, str(runs / RUN)], home)}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS)
