"""The records of a damaged `.wandb` log: whole ones are found, each lost stretch is named once."""

import random
import shutil
import struct
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings

from ingest.formats.framing import BLOCK, Found, Lost, records
from ingest.wandb.log import LOG
from tests.python.support.wandb.damage import damage, framed

SIZES = [3, 900, 12_000, 40_000, 70_000, 5, 0, 31_000, 1, 2_000, 33_000, 700, 700, 700, 9_000]
"""Payload sizes: records within a block, over two and over three, empty ones, and ends near a block's end."""


def payloads(seed: int = 7) -> list[bytes]:
    chance = random.Random(seed)
    return [bytes([i]) + chance.randbytes(size) for i, size in enumerate(SIZES)]


def spans(items: list[bytes]) -> list[tuple[int, int]]:
    """First and last byte (exclusive) of each record: the log's length before and after it was written."""
    found = []
    for count in range(1, len(items) + 1):
        end = len(framed(items[:count]))
        start = len(framed(items[: count - 1]))
        found.append((start + BLOCK - start % BLOCK if BLOCK - start % BLOCK < 7 else start, end))
    return found


def read(data: bytes, folder: Path) -> tuple[list[Found], list[Lost]]:
    path = folder / "log.wandb"
    path.write_bytes(data)
    parts = list(records(path, LOG))
    return [p for p in parts if isinstance(p, Found)], [p for p in parts if isinstance(p, Lost)]


def assert_accounted(data: bytes, found: list[Found], lost: list[Lost]) -> None:
    """Every byte is in a whole record, in one lost stretch, or zeros at a block's end."""
    stretches = sorted([(part.offset, part.end) for part in lost])
    starts = sorted([part.offset for part in found] + [start for start, _ in stretches])
    assert len(set(starts)) == len(starts)
    for (_, end), (start, _) in pairwise(stretches):
        assert end <= start
    for start, end in stretches:
        assert not [part for part in found if start < part.offset < end]
    assert sum(part.is_tail for part in lost) <= 1


def test_an_undamaged_log_reads_back(tmp_path: Path):
    items = payloads()
    found, lost = read(framed(items), tmp_path)
    assert [part.payload for part in found] == items and not lost
    assert [part.offset for part in found] == [start for start, _ in spans(items)]


def test_a_log_cut_anywhere_keeps_all_before_the_cut(tmp_path: Path):
    items = payloads()
    data, ends = framed(items), [end for _, end in spans(items)]
    cuts = {end + shift for end in [7, *ends] for shift in range(-9, 10)} | {
        BLOCK * n + s for n in (1, 2, 3) for s in range(-8, 9)
    }
    for cut in sorted(c for c in cuts if 7 <= c <= len(data)):
        found, lost = read(data[:cut], tmp_path)
        whole = sum(end <= cut for end in ends)
        assert [part.payload for part in found] == items[:whole], cut
        until = ends[whole - 1] if whole else 7
        rest = data[until:cut]
        if rest and (any(rest) or BLOCK - until % BLOCK >= 7):
            assert [(part.offset, part.end, part.is_tail) for part in lost] == [(until, cut, True)], cut
        else:
            assert not lost, cut


@pytest.mark.parametrize("place", range(len(SIZES)))
def test_a_flipped_byte_costs_the_records_it_touches(place: int, tmp_path: Path):
    items = payloads()
    data = bytearray(framed(items))
    start, end = spans(items)[place]
    data[end - 1] ^= 0x40
    found, lost = read(bytes(data), tmp_path)
    assert [part.payload for part in found] == items[:place] + items[place + 1 :]
    assert [(part.offset, part.is_tail) for part in lost] in (
        [(start, place == len(items) - 1)],
        [(start - start % BLOCK, place == len(items) - 1)],
        [(spans(items)[place - 1][1], place == len(items) - 1)],
    )


def test_a_damaged_length_costs_the_rest_of_its_block_only(tmp_path: Path):
    items = [bytes([i]) * 1000 for i in range(100)]
    data = bytearray(framed(items))
    start, _ = spans(items)[40]
    struct.pack_into("<H", data, start + 4, 60_000)
    found, lost = read(bytes(data), tmp_path)
    block_end = start - start % BLOCK + BLOCK
    kept = [item for item, (s, e) in zip(items, spans(items), strict=True) if e <= start or s >= block_end]
    assert [part.payload for part in found] == kept
    assert len(lost) == 1 and lost[0].offset == start and not lost[0].is_tail


def test_a_record_without_its_middle_is_lost_alone(tmp_path: Path):
    items = [b"a" * 10, b"b" * 100_000, b"c" * 10]
    data = framed(items)
    without_second_block = data[:BLOCK] + data[2 * BLOCK :]
    found, lost = read(without_second_block, tmp_path)
    assert [part.payload[:1] for part in found] == [b"a", b"b", b"c"]  # MIDDLE is one of two alike: framing can't tell
    found, lost = read(data[:BLOCK] + data[3 * BLOCK :], tmp_path)
    assert found[0].payload == items[0]
    first_only = data[: 7 + 17] + data[7 + 17 : BLOCK] + framed([b"d" * 5])[7:]
    found, lost = read(first_only, tmp_path)
    assert [part.payload for part in found] == [items[0], b"d" * 5]
    assert [(part.offset, part.end) for part in lost] == [(24, BLOCK)]


def test_zeros_at_the_end_are_a_torn_tail(tmp_path: Path):
    items = payloads()
    data = framed(items)
    for count in (7, 100, BLOCK, 3 * BLOCK):
        found, lost = read(data + bytes(count), tmp_path)
        assert [part.payload for part in found] == items
        assert [(part.offset, part.end, part.reason) for part in lost] == [
            (len(data), len(data) + count, "the log ends in zeros")
        ]


def test_a_block_with_room_for_a_header_has_no_padding(tmp_path: Path):
    data = framed([b"x" * (BLOCK - 7 - 7 - 7)])
    assert len(data) == BLOCK - 7
    assert not read(data, tmp_path)[1]
    assert [part.offset for part in read(data + bytes(7), tmp_path)[1]] == [BLOCK - 7]
    assert not read(framed([b"x" * (BLOCK - 7 - 7 - 6)]) + bytes(6), tmp_path)[1]


CLEAN = framed(payloads())


@settings(max_examples=300, deadline=None)
@given(damage(len(CLEAN)))
def test_any_damage_loses_only_what_it_touches(tmp_path_factory, steps):
    items = payloads()
    data, first = bytearray(CLEAN), len(CLEAN)
    for kind, at, junk in steps:
        if at >= len(data):
            continue
        first = min(first, at)
        if kind == "flip":
            data[at] ^= junk[0] or 1
        elif kind == "cut":
            del data[at:]
        elif kind == "insert":
            data[at:at] = junk
        elif kind == "delete":
            del data[at : at + len(junk)]
        else:
            data[at : at + len(junk)] = bytes(len(data[at : at + len(junk)]))
    folder = tmp_path_factory.mktemp("fuzz")
    found, lost = read(bytes(data), folder)
    shutil.rmtree(folder)
    before = [item for item, (_, end) in zip(items, spans_of_clean(), strict=True) if end <= first]
    assert [part.payload for part in found][: len(before)] == before
    assert all(part.payload in items for part in found)
    assert_accounted(bytes(data), found, lost)


def spans_of_clean(cache: list = []) -> list[tuple[int, int]]:  # noqa: B006 - computed once
    if not cache:
        cache.extend(spans(payloads()))
    return cache
