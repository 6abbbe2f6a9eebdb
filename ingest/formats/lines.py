"""Lines of plain, gzip and zstd files, one at a time out of one buffer: memory grows neither with the file nor with a
line that is too long to be read."""

import gzip
import io
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import xxhash
import zstandard

from ingest.formats.values import Unreadable

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

BUFFER_BYTES = 1 << 20
"""What one read asks for. Small enough to stay in a core's cache while its lines are parsed."""
LONGEST_LINE_BYTES = 8 << 20
"""A longer line is not held in memory. 400,000 tokens with logprobs take this much; parsing takes twelve times it."""
LONGEST_TEXT_MIB = 64
"""The same for lines that are no token arrays, by `text_lines`."""
SUFFIXES = ("", ".gz", ".zst")
"""What may follow a file's own suffix."""


@dataclass
class Line:
    """Line `number` (from 1) of a file: `buffer[start:end]` without its newline.

    The bytes are valid until the next line is asked for. A line that `is_too_long` has none, only their `known_digest`.
    One that `is_cut` is the file's last and has no newline: what wrote it may have been killed.
    """

    number: int
    buffer: bytearray
    start: int
    end: int
    known_digest: bytes | None = None
    is_cut: bool = False

    @property
    def is_too_long(self) -> bool:
        return self.start == self.end and self.known_digest is not None

    def view(self) -> memoryview:
        return memoryview(self.buffer)[self.start : self.end]

    def digest(self) -> bytes:
        """XXH3-128 of the line's bytes."""
        if self.known_digest is None and self.start < self.end:
            self.known_digest = xxhash.xxh3_128_digest(self.view())
        return self.known_digest or xxhash.xxh3_128_digest(b"")


class DamagedFile(Exception):
    """A compressed file that ends early or is no such file; raised after its last good line."""


def read_lines(path: Path, longest_bytes: int | None = None) -> Iterator[Line]:
    """Every line of `path`, a last one without a newline too. Raises DamagedFile after the lines that could be read.

    A line longer than `longest_bytes` (by default LONGEST_LINE_BYTES) is counted and digested, not held.
    """
    with open_unpacked(path) as handle:
        yield from _split(handle, longest_bytes or LONGEST_LINE_BYTES)


def text_lines(path: Path) -> Iterator[tuple[Line, bytes | Unreadable]]:
    """Each line that is not blank and its bytes, without blanks around them and without a byte order mark.

    Unreadable in their place says that the line is too long, or that the file is damaged from there on.
    """
    number = 0
    try:
        for line in read_lines(path, LONGEST_TEXT_MIB << 20):
            number = line.number
            if line.is_too_long:
                reason = f"longer than {LONGEST_TEXT_MIB} MiB: too long to be parsed in bounded memory"
                yield line, Unreadable(reason)
                continue
            raw = bytes(line.view()).strip()
            if number == 1:
                raw = raw.removeprefix(b"\xef\xbb\xbf").strip()
            if raw:
                yield line, raw
    except DamagedFile as damage:
        yield Line(number + 1, bytearray(), 0, 0), Unreadable(str(damage))


def content_digest(path: Path) -> str:
    """What `LinesDigest` gives after all lines of `path`."""
    digest = LinesDigest()
    try:
        for line in read_lines(path):
            digest.add(line)
    except DamagedFile as damage:
        digest.end(damage)
    return digest.text()


class LinesDigest:
    """A digest of a file's content, compression apart, made from the digests of its lines."""

    def __init__(self) -> None:
        self._digest = xxhash.xxh3_128()

    def add(self, line: Line) -> None:
        self._digest.update(line.digest())

    def end(self, damage: DamagedFile) -> None:
        self._digest.update(str(damage).encode())

    def text(self) -> str:
        return self._digest.hexdigest()


def _split(handle: io.RawIOBase, longest_bytes: int) -> Iterator[Line]:
    buffer = bytearray(BUFFER_BYTES)
    number, start, end, searched = 0, 0, 0, 0
    while True:
        newline = buffer.find(b"\n", searched, end)
        if newline >= 0:
            number += 1
            if newline - start > longest_bytes:
                yield Line(number, buffer, 0, 0, xxhash.xxh3_128_digest(memoryview(buffer)[start:newline]))
            else:
                yield Line(number, buffer, start, newline)
            start = searched = newline + 1
            continue
        if end - start > longest_bytes:
            number += 1
            line, start, end = _skip_long(handle, number, buffer, start, end)
            searched = start
            yield line
            continue
        if start:
            memoryview(buffer)[: end - start] = memoryview(buffer)[start:end]
        start, end, searched = 0, end - start, end - start
        if end > len(buffer) // 2:
            buffer = buffer + bytes(len(buffer))  # a new one: the caller may still hold a view of the old
        try:
            count = _read_into(handle, memoryview(buffer)[end:])
        except DamagedFile:
            if end:
                yield Line(number + 1, buffer, 0, end, is_cut=True)
            raise
        if not count:
            break
        end += count
    if end:
        yield Line(number + 1, buffer, 0, end, is_cut=True)


def _skip_long(handle: io.RawIOBase, number: int, buffer: bytearray, start: int, end: int) -> tuple[Line, int, int]:
    """Read on to the end of a line that is too long; what follows it lies at the returned start and end."""
    digest = xxhash.xxh3_128(memoryview(buffer)[start:end])
    while True:
        end = _read_into(handle, memoryview(buffer))
        newline = buffer.find(b"\n", 0, end)
        stop = end if newline < 0 else newline
        digest.update(memoryview(buffer)[:stop])
        if newline >= 0 or not end:
            return Line(number, buffer, 0, 0, digest.digest(), is_cut=newline < 0), min(stop + 1, end), end


def _read_into(handle: io.RawIOBase, target: memoryview) -> int:
    """The number of bytes read, 0 at the end. Raises DamagedFile where the file can't be read further."""
    try:
        return handle.readinto(target) or 0
    except (EOFError, OSError, zlib.error, zstandard.ZstdError) as error:
        raise DamagedFile(f"the file can't be read further ({error})") from error


def open_unpacked(path: Path) -> io.RawIOBase:
    """The file's bytes, unpacked where its suffix says that they are packed."""
    if path.suffix == ".gz":
        return _GzipFile(path)
    if path.suffix == ".zst":
        return _ZstdFile(path)
    return open(path, "rb", buffering=0)


class _GzipFile(io.RawIOBase):
    """A gzip file that gives all it can before it raises, where `GzipFile.readinto` drops what it had."""

    def __init__(self, path: Path) -> None:
        self._handle = gzip.open(path)  # noqa: SIM115 - closed by close()

    def readinto(self, target: "WriteableBuffer") -> int:
        view = memoryview(target)
        data = self._handle.read1(len(view))
        view[: len(data)] = data
        return len(data)

    def close(self) -> None:
        self._handle.close()
        super().close()


class _ZstdFile(io.RawIOBase):
    """All frames of a zstd file; unlike the library's reader it raises EOFError where the last one is cut.

    It reads little at a time because what a kilobyte can expand to (32 MB) is held in memory.
    """

    def __init__(self, path: Path) -> None:
        self._handle = open(path, "rb")  # noqa: SIM115 - closed by close()
        self._frame = zstandard.ZstdDecompressor().decompressobj()
        self._is_inside = False
        self._ready = memoryview(b"")

    def readinto(self, target: "WriteableBuffer") -> int:
        view = memoryview(target)
        while not self._ready:
            chunk = self._frame.unused_data if self._frame.eof else b""
            if self._frame.eof:
                self._frame = zstandard.ZstdDecompressor().decompressobj()
                self._is_inside = False
            chunk = chunk or self._handle.read(1024)
            if not chunk:
                if self._is_inside:
                    raise EOFError("a zstd frame ends early")
                return 0
            self._is_inside = True
            self._ready = memoryview(self._frame.decompress(chunk))
        count = min(len(view), len(self._ready))
        view[:count] = self._ready[:count]
        self._ready = self._ready[count:]
        return count

    def close(self) -> None:
        self._handle.close()
        super().close()
