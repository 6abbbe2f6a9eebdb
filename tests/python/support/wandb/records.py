"""An independent reader of `.wandb` framing for tests: whole records, and whether the file ends inside one."""

import struct
import zlib
from pathlib import Path

from wandb.proto import wandb_internal_pb2 as pb

BLOCK = 32_768


def payloads(data: bytes) -> tuple[list[bytes], bool]:
    """(payload of every whole record, whether the last one is cut). Asserts every crc."""
    assert data[:7] == b":W&B\xe1\xbe\x00"
    found, open_record, at = [], None, 7
    while at < len(data):
        left = BLOCK - at % BLOCK
        if left < 7:
            assert not any(data[at : at + left])
            at += left
            continue
        if at + 7 > len(data):
            return found, True
        crc, length, kind = struct.unpack_from("<IHB", data, at)
        chunk = data[at + 7 : at + 7 + length]
        assert length + 7 <= left
        if len(chunk) < length:
            return found, True
        assert crc == zlib.crc32(bytes([kind]) + chunk)
        at += 7 + length
        if kind in (1, 2):
            assert open_record is None
            open_record = chunk
        else:
            open_record += chunk
        if kind in (1, 4):
            found.append(open_record)
            open_record = None
    return found, open_record is not None


def records(path: Path) -> list[pb.Record]:
    """The whole records of a log."""
    return [pb.Record.FromString(payload) for payload in payloads(path.read_bytes())[0]]


def kind_of(record: pb.Record) -> str:
    return record.WhichOneof("record_type")


def items(record: pb.Record) -> list[tuple[tuple[str, ...], str]]:
    """(path of the key, JSON text) of a history, summary, config or stats record's items."""
    message = getattr(record, kind_of(record))
    found = message.item if kind_of(record) in ("history", "stats") else message.update
    return [(tuple(getattr(i, "nested_key", ())) or (i.key,), i.value_json) for i in found]
