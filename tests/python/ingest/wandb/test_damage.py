"""Damaged `.wandb` logs: nothing raises, all that is whole lands, each lost stretch is quarantined once."""

import json
import random
import shutil
import struct
import zlib
from collections import defaultdict
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from wandb.proto import wandb_internal_pb2 as pb

from homes.landing import Source, _conform
from homes.paths import Home
from homes.schema import landing_tables
from ingest.formats.framing import Found, Lost, records
from ingest.wandb import log as wandb_log
from ingest.wandb.files import ingest_wandb
from ingest.wandb.log import LOG, read_log
from simulate.curves.wandb_writer import LogWriter
from tests.python.support.command import seamline
from tests.python.support.landed import everything, fresh, rows
from tests.python.support.wandb.damage import damage, framed


def small_log(path: Path, run_id: str = "r1", count: int = 300) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with LogWriter(path, shuffle=random.Random(1)) as log:
        log.run(run_id, 1_795_000_000.5, {"lr": 1e-6}, display_name="n")
        for step in range(count):
            log.history({"_step": step, "_timestamp": 1_795_000_000.0 + step, "scores": step / 3, "x": {"y": step}})
            if step % 50 == 0:
                log.stats(1_795_000_000.25 + step, {"cpu": step})
                log.summary({"scores": step / 3})
        log.exit()


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_ingest_of_any_damaged_log_never_raises_and_counts_add_up(tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("ingest")
    clean = folder / "clean.wandb"
    small_log(clean)
    content = bytearray(clean.read_bytes())
    for kind, at, junk in data.draw(damage(len(content))):
        if kind == "cut":
            del content[max(at, 8) :]
        elif at < len(content):
            content[at] ^= junk[0] or 1
    path = folder / "logs" / "run-r1.wandb"
    path.parent.mkdir()
    path.write_bytes(content)
    landed = read_whole(path)
    if landed["history_logs"]:
        (facts,) = landed["history_logs"]
        assert facts["record_count"] == sum(isinstance(part, Found) for part in records(path, LOG))
        lost = [part for part in records(path, LOG) if isinstance(part, Lost)]
        assert facts["lost_tail_bytes"] == sum(part.end - part.offset for part in lost if part.is_tail)
        assert len(landed["quarantine"]) >= len(lost)
        steps = landed["history_rows"]
        assert [row["row_idx"] for row in steps] == list(range(facts["history_row_count"]))
        assert all(left["step"] < right["step"] for left, right in pairwise(steps))
        assert all(left["record_number"] < right["record_number"] for left, right in pairwise(steps))
        items = [(row["row_idx"], row["metric"]) for row in landed["history_values"]]
        assert len(set(items)) == len(items) == 4 * len(steps)
    else:
        assert landed["quarantine"]
    shutil.rmtree(folder)


@settings(max_examples=250, deadline=None)
@given(st.data())
def test_records_with_valid_checksums_and_any_content_never_raise(tmp_path_factory, data):
    """What the checksum lets through, an SDK wrote: but a reader must not trust that to be a message it knows."""
    folder = tmp_path_factory.mktemp("content")
    small_log(folder / "clean.wandb", count=4)
    items = [bytearray(part.payload) for part in records(folder / "clean.wandb", LOG)]
    for _ in range(data.draw(st.integers(1, 8))):
        item = data.draw(st.sampled_from([i for i in items if i]))
        at = data.draw(st.integers(0, len(item) - 1))
        if data.draw(st.booleans()):
            item[at] = data.draw(st.integers(0, 255))
        else:
            item[at:at] = data.draw(st.binary(max_size=6))
    path = folder / "logs" / "run-r1.wandb"
    path.parent.mkdir()
    path.write_bytes(framed([bytes(item) for item in items]))
    landed = read_whole(path)
    (facts,) = landed["history_logs"]
    assert facts["record_count"] == len(items)
    assert [row["row_idx"] for row in landed["history_rows"]] == list(range(facts["history_row_count"]))
    for row in landed["history_config"] + landed["history_summary"]:
        json.loads(row["value_json"])
    shutil.rmtree(folder)


def read_whole(path: Path) -> dict[str, list[dict]]:
    """Everything the reader yields for a log, checked against the declared columns, without a home."""
    source = Source("wandb", "log", str(path), "", 0)
    found: dict[str, list[dict]] = defaultdict(list)
    for table, batch in read_log(source):
        found[table] += _conform(batch, landing_tables()[table], source).to_pylist()
    return found


def test_the_size_of_batches_changes_nothing(tmp_path: Path, monkeypatch):
    small_log(tmp_path / "a.wandb")
    whole = read_whole(tmp_path / "a.wandb")
    assert [row["row_idx"] for row in whole["history_rows"]] == list(range(300))
    assert [row["sample_idx"] for row in whole["history_system_values"]] == list(range(6))
    monkeypatch.setattr(wandb_log, "_BATCH_RECORDS", 4)
    in_pieces = read_whole(tmp_path / "a.wandb")
    for table in whole:
        assert sorted(map(repr, in_pieces[table])) == sorted(map(repr, whole[table])), table


def ingest_bytes(content: bytes, folder: Path, name: str = "run-x.wandb") -> Home:
    path = folder / "logs" / name
    path.parent.mkdir()
    path.write_bytes(content)
    home = fresh(folder / "home")
    ingest_wandb(home, [str(path.parent)])
    return home


def test_a_log_of_the_header_alone_is_a_log_without_a_run(tmp_path: Path):
    home = ingest_bytes(LOG.raw, tmp_path)
    assert rows(home, "select run_id, record_count, history_row_count, lost_tail_bytes from history_logs") == [
        (None, 0, 0, 0)
    ]
    assert rows(home, "select count(*) from quarantine") == [(0,)]


@pytest.mark.parametrize(
    "content", [b"", b":W&B", b"hello world, this is no log", b"\0" * 100_000, b":W&B\xe1\xbe\x01"]
)
def test_a_file_that_is_no_log_is_quarantined_and_refused_by_itself(content: bytes, tmp_path: Path):
    home = ingest_bytes(content, tmp_path)
    assert rows(home, "select count(*) from history_logs") == [(0,)]
    ((locator, reason),) = rows(home, "select locator, reason from quarantine")
    assert locator == "byte 0" and reason.startswith("not a W&B log")
    done = seamline("ingest", "wandb", tmp_path / "logs" / "run-x.wandb", home=home.path, check=False)
    assert done.returncode == 1 and "not a W&B log" in done.stderr


def test_a_damaged_file_header_costs_itself(tmp_path: Path):
    small_log(tmp_path / "a.wandb")
    content = bytearray((tmp_path / "a.wandb").read_bytes())
    content[2] = 0
    home = ingest_bytes(bytes(content), tmp_path)
    assert rows(home, "select run_id, history_row_count from history_logs") == [("r1", 300)]
    assert rows(home, "select locator from quarantine") == [("byte 0",)]


def test_a_record_that_is_no_message_is_quarantined(tmp_path: Path):
    small_log(tmp_path / "a.wandb", count=3)
    good = [part.payload for part in records(tmp_path / "a.wandb", LOG)]
    broken = [b"\x08\x05\x12\x05\x0a\xff\xff\xff\xff", b"\x08\x09\x8a\x01\x02\x0a\x7f", b"\x08\x07\x3a\x02\x0a\x09"]
    home = ingest_bytes(framed([*good[:3], *broken, *good[3:]]), tmp_path)
    assert rows(home, "select history_row_count, record_count from history_logs") == [(3, len(good) + 3)]
    assert rows(home, "select count(*), count(distinct locator) from quarantine") == [(3, 3)]
    assert rows(home, "select step from history_rows order by row_idx") == [(0,), (1,), (2,)]


def history(num: int, *items: tuple) -> bytes:
    record = pb.Record(num=num)
    for path, text in items:
        item = record.history.item.add(value_json=text)
        if isinstance(path, str):
            item.key = path
        else:
            item.nested_key.extend(path)
    return record.SerializeToString()


def test_a_key_twice_in_a_record_lands_once_and_two_paths_of_one_name_both(tmp_path: Path):
    record = history(
        1,
        (["_step"], "0"),
        (["a"], "1"),
        (["a"], "2"),
        (["a"], "3"),
        (["b.c"], "4"),
        (["b", "c"], "5"),
        (["d", "e"], "6"),
        (["d", "e"], "7"),
    )
    home = ingest_bytes(framed([record]), tmp_path)
    landed = rows(home, "select metric, key_path, value from history_values where metric <> '_step' order by all")
    assert landed == [("a", None, 3.0), ("b.c", '["b", "c"]', 5.0), ("b.c", None, 4.0), ("d.e", '["d", "e"]', 7.0)]
    assert rows(home, "select locator, reason from quarantine order by reason") == [
        ("byte 7", "key 'a' is in one history record 3 times: the last value, 3, landed, not 1, 2"),
        ("byte 7", "key 'd.e' is in one history record 2 times: the last value, 7, landed, not 6"),
    ]


def test_values_in_typed_fields_land_too(tmp_path: Path):
    record = pb.Record(num=4)
    for key, kind, value in (
        ("f", "number", 0.5),
        ("i", "integer", -(2**60) - 1),
        ("b", "boolean", True),
        ("s", "text", "é"),
        ("j", "json", "[1]"),
        ("nothing", None, None),
    ):
        item = record.history.item.add(nested_key=[key])
        if kind:
            setattr(item, kind, value)
    home = ingest_bytes(framed([record.SerializeToString()]), tmp_path)
    assert rows(home, "select metric, value, value_text from history_values order by metric") == [
        ("b", None, "true"),
        ("f", 0.5, None),
        ("i", -float(2**60), str(-(2**60) - 1)),
        ("j", None, "[1]"),
        ("s", None, '"\\u00e9"'),
    ]
    assert rows(home, "select locator, reason from quarantine") == [("byte 7", "key 'nothing' has no value")]


def test_the_last_summary_and_config_stand(tmp_path: Path):
    def summary(*updates: tuple, remove: tuple = ()) -> bytes:
        record = pb.Record(num=1)
        for path, text in updates:
            record.summary.update.add(nested_key=path, value_json=text)
        for path in remove:
            record.summary.remove.add(nested_key=path)
        return record.SerializeToString()

    items = [
        summary((["a"], "1"), (["b"], "1"), (["n", "x"], "1"), (["n", "y"], "1")),
        summary((["a"], "2")),
        summary((["n"], '{"x": 5}'), (["gone"], "1")),
        summary((["h", "_type"], '"histogram"'), (["h", "values"], "[1]"), remove=[["gone"]]),
    ]
    home = ingest_bytes(framed(items), tmp_path)
    assert rows(home, "select summary_key, value_json from history_summary order by 1") == [
        ("a", "2"),
        ("b", "1"),
        ("h", '{"_type": "histogram", "values": [1]}'),
        ("n.x", "5"),
    ]


def test_half_a_surrogate_pair_in_a_nested_key_or_text_lands_escaped(tmp_path: Path):
    nested = ("d", '{"a\\ud800": {"b": 1}, "t": "\\udc00"}')
    home = ingest_bytes(framed([history(1, nested)]), tmp_path)
    assert rows(home, "select metric, key_path, value, value_text from history_values order by 1") == [
        ("d.a\\ud800.b", '["d", "a\\\\ud800", "b"]', 1.0, None),
        ("d.t", '["d", "t"]', None, '"\\udc00"'),
    ]


def test_bytes_after_the_checksum_of_nothing_are_not_read_as_a_record(tmp_path: Path):
    nothing = struct.pack("<IHB", zlib.crc32(b"\x01"), 0, 1)
    home = ingest_bytes(LOG.raw + nothing, tmp_path)
    assert rows(home, "select record_count, history_row_count from history_logs") == [(1, 0)]
    assert everything(home)["history_rows"] == []
