"""A `.wandb` log of 20,000 rows x 150 metrics to zstd Parquet: Seamline beside a plain loop; two logs on two cores."""

import json
import os
import random
import tempfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from wandb.proto import wandb_internal_pb2 as pb

from homes.lock import init
from homes.paths import Home
from ingest.formats.framing import Found, records
from ingest.wandb.files import ingest_wandb
from ingest.wandb.log import LOG
from simulate.curves.wandb_writer import LogWriter
from tests.bench.measure import measure

ROWS, METRICS = 20_000, 150


def write_log(path: Path, run_id: str, rows: int = ROWS, seed: int = 1) -> None:
    """A log as the Go core writes it: items in random order, three of W&B's own keys among the 150."""
    chance = random.Random(seed)
    names = [f"train/g{i % 7}/metric_{i:03d}" for i in range(METRICS - 4)]
    with LogWriter(path, shuffle=chance) as log:
        log.run(run_id, 1_795_000_000.25, {"lr": 1e-6}, display_name=run_id)
        for row in range(rows):
            values: dict[str, object] = {name: chance.random() for name in names}
            values |= {"_step": row, "_timestamp": 1_795_000_000 + 1.37 * row, "_runtime": 1.37 * row}
            log.history(values | {"global_step": 16 * row})
        log.exit()


def plain_loop(log: Path, target: Path) -> int:
    """What one would write: parse each record with W&B's protobufs, `json.loads` each value, write Parquet."""
    schema = pa.schema([("row", pa.int64()), ("metric", pa.string()), ("value", pa.float64()), ("text", pa.string())])
    count = row = 0
    with pq.ParquetWriter(target, schema, compression="zstd", use_dictionary=["metric"]) as writer:
        rows, metrics, values, texts = [], [], [], []

        def write() -> None:
            writer.write_table(pa.table([rows, metrics, values, texts], schema=schema))
            for column in (rows, metrics, values, texts):
                column.clear()

        for record in records(log, LOG):
            message = pb.Record()
            message.ParseFromString(record.payload)
            if message.WhichOneof("record_type") != "history":
                continue
            for item in message.history.item:
                value = json.loads(item.value_json)
                is_number = type(value) in (int, float)
                rows.append(row)
                metrics.append(".".join(item.nested_key) or item.key)
                values.append(float(value) if is_number else None)
                texts.append(None if is_number or value is None else item.value_json)
            row += 1
            if len(rows) > 100_000:
                count += len(rows)
                write()
        count += len(rows)
        write()
    return count


def land_logs(home: Path, logs: list[str], workers: int) -> int:
    """`seamline ingest wandb` of `logs` into a home, digests and all."""
    return ingest_wandb(Home(home), logs, workers=workers).rows["history_values"]


def framing_only(log: Path) -> int:
    """The framing and its checksums alone."""
    return sum(isinstance(record, Found) for record in records(log, LOG))


def main() -> None:
    """Print seconds, memory and ratios."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        logs = [place / name / f"run-{name}.wandb" for name in ("bench001", "bench002")]
        for seed, log in enumerate(logs):
            log.parent.mkdir()
            write_log(log, log.parent.name, seed=seed)
        tiny = place / "tiny" / "run-tiny.wandb"
        tiny.parent.mkdir()
        write_log(tiny, "tiny", rows=50)
        homes = [place / name for name in ("one", "serial", "parallel")]
        for home in homes:
            init(Home(home))
        size = logs[0].stat().st_size / 1e6
        loop = measure(plain_loop, logs[0], place / "plain.parquet", warm_up=(tiny, place / "tiny.parquet"))
        framing = measure(framing_only, logs[0])
        ours = measure(land_logs, homes[0], [str(logs[0])], 1, warm_up=(homes[0], [str(tiny)], 1))
        assert loop.result == ours.result
        both = [str(log) for log in logs]
        serial = measure(land_logs, homes[1], both, 1, warm_up=(homes[1], [str(tiny)], 1))
        parallel = measure(land_logs, homes[2], both, 2, one_core=False, warm_up=(homes[2], [str(tiny)], 1))
        values = ours.result
        print(f"log: {size:.0f} MB, {ROWS:,} rows, {values:,} values; one core of {os.cpu_count()}, libraries loaded")
        for name, took in (("plain loop", loop), ("framing and crc alone", framing), ("seamline ingest wandb", ours)):
            rate = values / took.seconds / 1e6
            print(f"{name:22} {took.seconds:6.2f} s ({took.cpu_seconds:5.2f} s of processor)  {rate:6.2f} M values/s")
        print(
            f"{loop.seconds / ours.seconds:.1f} x the plain loop "
            f"({loop.cpu_seconds / ours.cpu_seconds:.1f} x by processor seconds), peak memory {ours.peak_mb:.0f} MB"
        )
        print(
            f"two logs: one after the other {serial.seconds:.2f} s, on two cores {parallel.seconds:.2f} s: "
            f"{serial.seconds / parallel.seconds:.2f} x"
        )


if __name__ == "__main__":
    main()
