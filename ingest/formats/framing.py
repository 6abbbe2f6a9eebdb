"""Transaction logs in LevelDB's log format with a file header of their own and plain crc32.

After a 7-byte file header (four letters, a magic number, a version; it counts towards block 1) come blocks of 32,768
bytes. A fragment is `<IHB` crc, length, type and that many bytes; a record is one FULL fragment, or FIRST, MIDDLE...
and LAST. The tail of a block that is too short for a fragment header is zeros.
"""

import os
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

BLOCK = 32768
_DAMAGED, _FULL, _FIRST, _MIDDLE, _LAST = range(5)
_FRAGMENT = struct.Struct("<IHB")
_READ_BYTES = 128 * BLOCK


@dataclass(frozen=True)
class LogHeader:
    """The first 7 bytes of every log of one format, and what messages call such a log."""

    log_name: str
    letters: bytes
    magic: int
    version: int

    @property
    def raw(self) -> bytes:
        return struct.pack("<4sHB", self.letters, self.magic, self.version)


class Found(NamedTuple):
    """A whole record: where its first fragment starts, and its bytes."""

    offset: int
    payload: bytes


class Lost(NamedTuple):
    """A stretch without a whole record: bytes `offset` to `end`. `is_tail` where nothing whole follows it."""

    offset: int
    end: int
    reason: str
    is_tail: bool


def looks_like_a_log(path: Path, header: LogHeader) -> bool:
    """Whether the file starts with the header, or holds a whole record in its first block all the same."""
    with open(path, "rb") as handle:
        start = handle.read(BLOCK)
    return start.startswith(header.raw) or any(kind for _, _, kind in _fragments(start, len(header.raw)))


def records(path: Path, header: LogHeader) -> Iterator[Found | Lost]:
    """Every whole record, in order, and each stretch between them that is none. Every byte read is checked by its crc.

    A damaged fragment costs its record where the fragment after it verifies, else the rest of its block.
    """
    header_bytes = len(header.raw)
    whole_until = header_bytes
    parts: list[bytes] = []
    start = base = 0
    last_block = b""
    with open(path, "rb") as handle:
        size = os.fstat(handle.fileno()).st_size  # a run that is being logged may append while we read
        if handle.read(header_bytes) != header.raw:
            reason = f"the file header is not that of a {header.log_name}"
            yield Lost(0, min(header_bytes, size), reason, size <= header_bytes)
        handle.seek(0)
        while chunk := handle.read(min(_READ_BYTES, size - base)):
            for position, end, kind in _fragments(chunk, header_bytes if base == 0 else 0):
                if kind in (_FULL, _FIRST):
                    start, parts = base + position, [chunk[position + 7 : end]]
                elif kind == _DAMAGED or not parts:
                    parts = []
                    continue
                else:
                    parts.append(chunk[position + 7 : end])
                if kind in (_FULL, _LAST):
                    if start - whole_until >= _FRAGMENT.size:  # less is the padding of a block
                        yield Lost(whole_until, start, "no record with a valid checksum", False)
                    yield Found(start, parts[0] if kind == _FULL else b"".join(parts))
                    whole_until, parts = base + end, []
            base += len(chunk)
            last_block = (last_block + chunk[-BLOCK:])[-BLOCK:]
    lost = base - whole_until
    if lost > 0 and not _is_padding(whole_until, last_block[-lost:]):
        zeros = not any(last_block[-lost:])
        yield Lost(whole_until, base, "the log ends in zeros" if zeros else "the log ends inside a record", True)


def _is_padding(position: int, rest: bytes) -> bool:
    """Whether `rest`, the file's end from `position` on, is the zeros of a block too full for another fragment."""
    return BLOCK - position % BLOCK < _FRAGMENT.size and not any(rest)


def _fragments(chunk: bytes, position: int) -> Iterator[tuple[int, int, int]]:
    """Start, end and type of each fragment in `chunk`, which starts where a block does; one of type 0 is damaged."""
    view = memoryview(chunk)
    crc32, unpack, header = zlib.crc32, _FRAGMENT.unpack_from, _FRAGMENT.size
    size = len(chunk)
    for block_end in range(BLOCK, size + BLOCK, BLOCK):
        block_end = min(block_end, size)
        while position + header <= block_end:
            crc, length, kind = unpack(chunk, position)
            end = position + header + length
            if end <= block_end and _FULL <= kind <= _LAST and crc32(view[position + 6 : end]) == crc:
                yield position, end, kind
                position = end
                continue
            yield position, position, _DAMAGED
            if end + header > block_end or not _verifies(chunk, end, block_end):
                break
            position = end
        position = block_end


def _verifies(chunk: bytes, position: int, block_end: int) -> bool:
    crc, length, kind = _FRAGMENT.unpack_from(chunk, position)
    end = position + _FRAGMENT.size + length
    return end <= block_end and _FULL <= kind <= _LAST and zlib.crc32(chunk[position + 6 : end]) == crc
