"""Rollouts of 20,000 tokens: JSONL to landed evidence, beside merely parsing it and beside DuckDB and polars; one core
and two, a gigabyte; then SQL from landed evidence to arm_turns at 128,000 rollouts of 28 blocks and 22 calls."""

import os
import shutil
import tempfile
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import simdjson

from homes.landing import Source, land
from homes.lock import open_home
from homes.paths import Home
from homes.schema import landing_tables
from ingest.formats.lines import read_lines
from ingest.open_instruct.shards import ingest_rollouts
from simulate.rollouts.write import write_bench
from tests.bench.measure import measure
from warehouse.build import build

ROLLOUTS = int(os.environ.get("BENCH_ROLLOUTS", 2_000))
"""In the shard that is read one core at a time: a gigabyte."""
SHARDS = 2
"""Such shards, read by one process and by two."""
REPEATS = 5
SQL_ROLLOUTS = int(os.environ.get("BENCH_SQL_ROLLOUTS", 128_000))
BLOCKS, SPANS = 28, 22
RECORD = (
    "step: 'BIGINT', sample_idx: 'BIGINT', prompt_idx: 'BIGINT', prompt_tokens: 'BIGINT[]', "
    "response_tokens: 'BIGINT[]', reward: 'DOUBLE', advantage: 'DOUBLE', finish_reason: 'VARCHAR', "
    "dataset: 'VARCHAR', request_info: 'STRUCT(num_calls BIGINT)', logprobs: 'DOUBLE[]'"
)


def parse_only(shard: Path) -> int:
    """The limit: the same lines, read the same way, parsed by simdjson and not looked at."""
    parser = simdjson.Parser()
    count = 0
    for line in read_lines(shard):
        parser.parse(line.view())
        count += 1
    return count


def seamline(shards: list[Path], home: Path, workers: int) -> int:
    """What `seamline ingest rollouts` does, into a home without rollouts."""
    with open_home(home) as opened:
        return ingest_rollouts(opened, [str(shard) for shard in shards], workers=workers).rows["rollout_records"]


def seamline_alone(shard: Path, home: Path) -> int:
    """One shard, in this process."""
    return seamline([shard], home, 1)


def fresh(home: Path) -> None:
    """A new home; making its tables is no part of reading shards."""
    shutil.rmtree(home, ignore_errors=True)
    with open_home(home):
        pass


def duckdb_read_json(shard: Path, target: Path) -> int:
    """What one would write with DuckDB: explicit columns, to Parquet. It finds no runs and no markers."""
    with duckdb.connect(config={"threads": 1}) as connection:
        connection.execute("set enable_progress_bar = false")
        options = "format = 'newline_delimited', maximum_object_size = 33554432"
        read = f"read_json('{shard}', {options}, columns = {{{RECORD}}})"
        return connection.execute(f"copy (from {read}) to '{target}' (format parquet, compression zstd)").fetchone()[0]


def polars_read_ndjson(shard: Path, target: Path) -> int:
    """What one would write with polars, to Parquet, without the struct that has an empty one inside."""
    import polars as pl

    frame = pl.read_ndjson(shard).drop("request_info")
    frame.write_parquet(target, compression="zstd")
    return frame.height


def write_evidence(home: Path, count: int) -> None:
    """Landed evidence of `count` rollouts, without shards: 28 blocks, 22 calls and some shorter runs of zeros each."""
    with open_home(home) as opened:
        for part in range(0, count, 8_000):
            _land_part(opened, part, min(8_000, count - part))
        row = {"line_number": 1, "run_name": "bench__1__1789453662", "model_name": "Qwen/Qwen3.5-9B"}
        _land(opened, "metadata", {"rollout_runs": [row | {"git_commit": None, "started_at": None}]})


def _land_part(home: Home, first: int, count: int) -> None:
    rng = np.random.default_rng(first)
    runs = BLOCKS + 12
    gaps = rng.integers(120, 400, (count, runs))
    is_block = np.tile(np.arange(runs) % 10 < 7, (count, 1))
    lengths = np.where(is_block, rng.integers(16, 400, (count, runs)), rng.integers(4, 8, (count, runs)))
    starts = np.cumsum(gaps + lengths, axis=1) - lengths
    opens = (starts - rng.integers(30, 100, (count, runs)))[:, :SPANS]
    positions = np.sort(np.concatenate([opens, opens + 20], axis=1), axis=1)
    ids = np.where(np.arange(2 * SPANS) % 2 == 0, 248_058, 248_059)
    response = starts[:, -1] + lengths[:, -1] + 50
    number = np.arange(first, first + count)
    columns = {
        "line_number": number - first + 1,
        "run_name": ["bench__1__1789453662"] * count,
        "step_idx": number // 256,
        "sample_idx": number % 256,
        "prompt_idx": number % 256 // 8,
        "prompt_tokens": [1_000] * count,
        "response_tokens": response,
        "logprob_count": response,
        "nan_logprob_count": [0] * count,
        "zero_run_starts": list(starts.astype(np.int32)),
        "zero_run_tokens": list(lengths.astype(np.int32)),
        "special_positions": list(positions.astype(np.int32)),
        "special_ids": [ids] * count,
        "finish_reason": ["stop"] * count,
        "call_count": [BLOCKS] * count,
        "record_digest": [f"{n:032x}" for n in number],
    }
    wanted = [f for f in landing_tables()["rollout_records"].schema if f.name != "source_name"]
    arrays = [pa.array(columns.get(f.name, [None] * count), type=f.type) for f in wanted]
    records = pa.RecordBatch.from_arrays(arrays, schema=pa.schema(wanted))
    file = {"run_name": "bench__1__1789453662", "shard_number": first // 8_000, "line_count": count}
    file |= {"record_count": count, "unreadable_line_count": 0, "tolerated_line_count": 0}
    _land(
        home, f"part-{first}", {"rollout_files": [file | {"special_token_ids": [248_046, 248_058, 248_059]}]}, records
    )


def _land(home: Home, name: str, tables: dict[str, list[dict]], records: pa.RecordBatch | None = None) -> None:
    batches = [] if records is None else [("rollout_records", records)]
    for table, rows in tables.items():
        fields = [f for f in landing_tables()[table].schema if f.name != "source_name"]
        batches.append((table, pa.RecordBatch.from_pylist(rows, schema=pa.schema(fields))))
    land(home, Source("rollouts", name, f"/bench/{name}", "bench", 1), batches)


def build_turns(home: Path, only: str) -> None:
    """A dbt build of what is selected, under the limits."""
    os.environ.update({"SEAMLINE_MEMORY": "4GB", "SEAMLINE_THREADS": "2"})
    with open_home(home) as opened:
        build(opened, ["--quiet", "--resource-type", "model", "--select", only])


def _report(name: str, seconds: float, megabytes: float, peak_mb: float, against: float | None = None) -> None:
    compared = "" if against is None else f"   {against / seconds:5.2f} of the parse-only limit"
    print(f"  {name:<46} {megabytes / seconds:7.0f} MB/s   {peak_mb:6.0f} MB peak{compared}", flush=True)


def main() -> None:
    """Print every figure; nothing is asserted."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        write_bench(folder / "in", ROLLOUTS, 0)
        (shard,) = folder.glob("in/*_rollouts_*.jsonl")
        size = shard.stat().st_size / 1e6
        print(f"{ROLLOUTS} rollouts, {size:.0f} MB, one core; best of {REPEATS}, taken in turns after a warm-up")
        home = folder / "home"
        write_bench(folder / "tiny", 2, 1)
        (tiny,) = folder.glob("tiny/*_rollouts_*.jsonl")
        works = {
            "simdjson, parse only": (parse_only,),
            "seamline, to landed evidence": (seamline_alone, home),
            "DuckDB read_json with columns, to Parquet": (duckdb_read_json, folder / "duckdb.parquet"),
            "polars read_ndjson, to Parquet": (polars_read_ndjson, folder / "polars.parquet"),
        }
        best: dict[str, tuple[float, float]] = {}
        for _ in range(REPEATS):
            for name, (work, *target) in works.items():
                fresh(home)
                found = measure(work, shard, *target, warm_up=(tiny, *target))
                assert found.result == ROLLOUTS, name
                best[name] = min(best.get(name, (found.seconds, found.peak_mb)), (found.seconds, found.peak_mb))
        limit = best["simdjson, parse only"][0]
        for name, (seconds, peak) in best.items():
            _report(name, seconds, size, peak, limit)
        ours = best["seamline, to landed evidence"][0]
        for other in list(best)[2:]:
            print(f"  {best[other][0] / ours:.1f} times {other.split(',')[0]}")
        print(f"{SHARDS} such shards, {SHARDS * size / 1e3:.1f} GB")
        shards = [
            shard,
            *(shard.with_name(shard.name.replace("000000", f"{n:06d}")) for n in range(1, SHARDS)),
        ]
        for copy in shards[1:]:
            os.link(shard, copy)
        seconds = {}
        for workers in (1, 2):
            fresh(home)
            found = measure(seamline, shards, home, workers, one_core=False)
            seconds[workers] = found.seconds
            _report(
                f"seamline, {workers} process{'es' if workers > 1 else ''}",
                found.seconds,
                len(shards) * size,
                found.peak_mb,
            )
        print(f"  two cores {seconds[1] / seconds[2]:.2f} times one")
        shutil.rmtree(folder / "in")
        print("SQL, landed evidence to arm_turns, two threads, 4 GB; dbt's own start-up apart")
        for count in (SQL_ROLLOUTS // 4, SQL_ROLLOUTS):
            target = folder / f"sql-{count}"
            write_evidence(target, count)
            views = (build_turns, target, "+arm_turns,config.materialized:view")
            measure(*views, one_core=False)  # the first build of a home parses the project
            start_up = measure(*views, one_core=False).seconds
            whole = measure(build_turns, target, "+arm_turns", one_core=False).seconds
            print(f"  {count:>7} rollouts: {whole - start_up:5.1f} s ({whole:.1f} s with dbt's start-up)", flush=True)


if __name__ == "__main__":
    main()
