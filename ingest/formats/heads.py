"""The beginning of a file: enough to tell what it holds before it is taken for something by its name."""

import gzip
import re
import zlib
from pathlib import Path

import zstandard

from ingest.formats.lines import open_unpacked

HEAD_BYTES = 1 << 16
_KEY = re.compile(rb'"([^"\\]{1,80})"\s*:')


def head(path: Path) -> bytes:
    """The first bytes of a plain, gzip or zstd file; none where it can't be unpacked."""
    found = bytearray(HEAD_BYTES)
    end = 0
    try:
        with open_unpacked(path) as handle:
            while end < HEAD_BYTES and (count := handle.readinto(memoryview(found)[end:])):
                end += count
    except (EOFError, gzip.BadGzipFile, zlib.error, zstandard.ZstdError):
        pass
    return bytes(found[:end])


def keys_in(start: bytes) -> set[str]:
    """Every JSON key in the beginning of a file, nested ones too, whether or not its lines are whole."""
    return {key.decode("utf-8", "replace") for key in _KEY.findall(start)}


def is_blank(start: bytes) -> bool:
    """Whether a file starts with nothing: empty, or left by a crash. Its name is all there is to go by."""
    return not start.strip(b" \t\r\n\0")


def may_hold(path: Path, keys: set[str], at_least: int = 1) -> bool:
    """Whether a file of JSON starts with some of these keys, or with nothing."""
    start = head(path)
    return is_blank(start) or len(keys_in(start) & keys) >= at_least
