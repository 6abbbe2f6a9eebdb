"""Writes W&B transaction logs (`.wandb`) as the SDK does, for campaigns and benches that need no W&B.

Framing: a 7-byte file header, then LevelDB log blocks of 32,768 bytes; crc32 over a record's type byte and data. The
records inside are protobufs of `wandb.proto`. A test holds the result against files the SDK wrote.
"""

import json
import math
import random
import struct
import zlib
from collections.abc import Iterable, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any, BinaryIO, Literal

from wandb.proto import wandb_internal_pb2

pb: Any = wandb_internal_pb2
"""Protobuf makes the module's classes when it is imported, so a type checker finds none in it."""

FILE_HEADER = b":W&B" + struct.pack("<HB", 0xBEE1, 0)
BLOCK_BYTES = 32_768
RECORD_HEADER = struct.Struct("<IHB")
FULL, FIRST, MIDDLE, LAST = 1, 2, 3, 4

Encoding = Literal["nested_key", "key"]
"""How keys are stored: a path in `nested_key` (SDK 0.18 and later), or text in `key` (up to 0.17)."""


def frame(payloads: Iterable[bytes], out: BinaryIO) -> None:
    """Write a whole log, header included, holding `payloads`."""
    framing = _Framing(out)
    for payload in payloads:
        framing.write(payload)


class _Framing:
    """Splits records over blocks. The file header counts towards the first block."""

    def __init__(self, out: BinaryIO):
        self.out = out
        out.write(FILE_HEADER)
        self.left = BLOCK_BYTES - len(FILE_HEADER)

    def write(self, payload: bytes) -> None:
        if self.left < RECORD_HEADER.size:
            self.out.write(bytes(self.left))
            self.left = BLOCK_BYTES
        if len(payload) + RECORD_HEADER.size <= self.left:
            self._chunk(FULL, payload)
            return
        kind, start = FIRST, 0
        while True:
            room = self.left - RECORD_HEADER.size
            if len(payload) - start <= room:
                self._chunk(LAST, payload[start:])
                return
            self._chunk(kind, payload[start : start + room])
            kind, start = MIDDLE, start + room

    def _chunk(self, kind: int, data: bytes) -> None:
        crc = zlib.crc32(data, zlib.crc32(bytes([kind])))
        self.out.write(RECORD_HEADER.pack(crc, len(data), kind))
        self.out.write(data)
        self.left -= RECORD_HEADER.size + len(data)
        if self.left == 0:
            self.left = BLOCK_BYTES


class LogWriter:
    """One log, written record by record; a context manager. Leaving out `exit` is what a killed run does.

    `shuffle` orders the items of each record at random, as the Go core (0.18 and later) does.
    Times are seconds since the epoch, UTC. Values are what JSON can hold, and NaN and infinities.
    """

    def __init__(
        self,
        path: Path,
        encoding: Encoding = "nested_key",
        sdk_version: str = "0.31.0",
        shuffle: random.Random | None = None,
    ):
        self.path = path
        self.encoding = encoding
        self.shuffle = shuffle
        self.record_number = 0
        self.last_record_start = 0
        self._stream_id = ""
        self._out = open(path, "wb")  # noqa: SIM115 - closed by close()
        self._framing = _Framing(self._out)
        header = pb.Record()
        header.header.version_info.producer = sdk_version
        header.header.version_info.min_consumer = "0.70.0"
        self._write(header)

    def __enter__(self) -> "LogWriter":
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()

    def run(
        self,
        run_id: str,
        started_at: float,
        config: Mapping[str, object],
        display_name: str = "",
        group: str = "",
        entity: str = "",
        project: str = "",
    ) -> None:
        """The run record, which names the run and holds its config. Nested config is one item, its value JSON."""
        record = pb.Record()
        run = record.run
        run.run_id, run.project, run.entity = run_id, project, entity
        run.display_name, run.run_group = display_name, group
        run.host = "trainer-0"
        whole, part = divmod(round(started_at * 1_000_000), 1_000_000)
        run.start_time.seconds, run.start_time.nanos = whole, part * 1000
        for key, value in config.items():
            item = run.config.update.add()
            item.key, item.value_json = key, self._config_json(_finite(value))
        self._stream_id = record._info.stream_id = run_id
        self._write(record)

    def define_metric(self, pattern: str, step_metric: str) -> None:
        """What `run.define_metric` writes: a metric, or a prefix where the pattern ends in `*`, and its step metric."""
        record = pb.Record()
        metric = record.metric
        metric.glob_name, metric.name = (pattern, "") if pattern.endswith("*") else ("", pattern)
        metric.step_metric = step_metric
        metric.options.step_sync = metric.options.defined = True
        record._info.stream_id = self._stream_id
        self._write(record)

    def history(self, row: Mapping[str, object]) -> None:
        """One history row. The caller gives `_step`, `_timestamp` and `_runtime` as items like the others."""
        record = pb.Record()
        self._fill(record.history.item, row)
        if self.encoding == "nested_key" and "_step" in row:
            record.history.step.num = row["_step"]
        self._write(record)

    def summary(self, values: Mapping[str, object]) -> None:
        """A summary update; the SDK writes one after every history row, with the row's values."""
        record = pb.Record()
        self._fill(record.summary.update, values)
        self._write(record)

    def stats(self, logged_at: float, values: Mapping[str, float]) -> None:
        """A sample of system metrics at its own time."""
        record = pb.Record()
        whole, part = divmod(round(logged_at * 1_000_000), 1_000_000)
        record.stats.timestamp.seconds, record.stats.timestamp.nanos = whole, part * 1000
        for key, value in values.items():
            item = record.stats.item.add()
            item.key, item.value_json = key, json.dumps(value)
        self._write(record)

    def exit(self, code: int = 0, runtime_seconds: int = 0) -> None:
        """The exit record; a log without it is unfinished."""
        record = pb.Record()
        record.exit.exit_code, record.exit.runtime = code, runtime_seconds
        record._info.stream_id = self._stream_id
        self._write(record)

    def cut(self, keep_bytes: int | None = None) -> None:
        """Cut the file inside the last record, as a kill during a write does, keeping `keep_bytes` of that record
        (framing included; default half), and close it."""
        self._out.flush()
        size = self._out.tell()
        length = size - self.last_record_start
        keep = length // 2 if keep_bytes is None else keep_bytes
        if not 0 < keep < length:
            raise ValueError(f"{self.path}: the last record has {length} bytes; {keep} is no cut inside it")
        self._out.truncate(self.last_record_start + keep)
        self.close()

    def close(self) -> None:
        self._out.close()

    def _fill(self, items, row: Mapping[str, object]) -> None:
        if self.encoding == "key":
            for key, value in row.items():
                items.add(key=key, value_json=self._json(value))
            return
        pairs = list(_leaves(row))
        if self.shuffle:
            self.shuffle.shuffle(pairs)
        for path, value in pairs:
            items.add(nested_key=path, value_json=self._json(value))

    def _config_json(self, value: object) -> str:
        if self.encoding == "key":
            return json.dumps(value)
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        return text.replace("e-0", "e-") if type(value) is float else text

    def _json(self, value: object) -> str:
        if self.encoding == "key":
            return json.dumps(value)
        return repr(value) if type(value) is int else _go_json(value)

    def _write(self, record: Any) -> None:
        self.record_number += 1
        record.num = self.record_number
        # A record that would start in a tail too short for its header starts in the next block.
        padding = self._framing.left if self._framing.left < RECORD_HEADER.size else 0
        self.last_record_start = self._out.tell() + padding
        self._framing.write(record.SerializeToString())


def _leaves(row: Mapping[str, object], above: tuple[str, ...] = ()) -> Iterable[tuple[tuple[str, ...], object]]:
    """(path, value) of every value that is not a dict; an empty dict is a value."""
    for key, value in row.items():
        if type(value) is dict and value:
            yield from _leaves(value, (*above, key))
        else:
            yield (*above, key), value


def _go_json(value: object) -> str:
    """JSON as the SDK spells it from 0.18 on: floats in Go's shortest %g, so 1 for 1.0 and 1e+06 for a million."""
    if type(value) is float:
        if 1e-4 <= abs(value) < 1e6:
            return repr(value).removesuffix(".0")
        return _go_float(value)
    if isinstance(value, list | tuple):
        return f"[{','.join(map(_go_json, value))}]"
    if isinstance(value, dict):
        return "{" + ",".join(f"{json.dumps(k, ensure_ascii=False)}:{_go_json(v)}" for k, v in value.items()) + "}"
    return json.dumps(value, ensure_ascii=False)


def _go_float(value: float) -> str:
    if not math.isfinite(value):
        return json.dumps(value)
    if value == 0.0:
        return "-0" if math.copysign(1.0, value) < 0 else "0"
    number = Decimal(repr(value)).normalize()
    sign, digits, _ = number.as_tuple()
    exponent = number.adjusted()  # of the first digit
    rest = "".join(map(str, digits[1:]))
    return f"{'-' * sign}{digits[0]}{'.' * bool(rest)}{rest}e{'-' if exponent < 0 else '+'}{abs(exponent):02d}"


def _finite(value: object) -> object:
    """Config values as the SDK stores them: NaN becomes null."""
    return None if isinstance(value, float) and not math.isfinite(value) else value
