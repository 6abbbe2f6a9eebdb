"""Shards and metadata into landing tables: what lands, what is set aside, what is read again."""

import gzip
import json
from pathlib import Path

import duckdb
import pytest
import xxhash
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from homes.errors import DeclaredError, SourceError
from homes.lock import open_home
from ingest.formats import lines
from ingest.open_instruct.shards import ingest_rollouts
from tests.python.support.command import seamline
from tests.python.support.planted_rollouts import OPEN, record

RUN = "exp__42__1789453662"


def shard_file(folder: Path, number: int = 0, run: str = RUN) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder / f"{run}_rollouts_{number:06d}.jsonl"


def text(*records: dict) -> bytes:
    return b"".join(json.dumps(r).encode() + b"\n" for r in records)


def ingest(home: Path, *paths: object, **options: object):
    with open_home(home) as opened:
        return ingest_rollouts(opened, [str(path) for path in paths], workers=1, **options)


def landed(home: Path, table: str, columns: str = "*") -> list[tuple]:
    folder = home / ("quarantine" if table == "quarantine" else f"landing/{table}")
    return duckdb.sql(f"select {columns} from read_parquet('{folder}/*.parquet') order by all").fetchall()


def test_a_torn_shard_lands_all_but_what_cannot_be_read(home: Path, tmp_path: Path) -> None:
    good = [record(0, i) for i in range(4)]
    parts = [text(good[0]), b"\0" * 100 + b"\n", text(good[1]), b"[1]\n", b"\n", b'{"step": NaN}\n', text(good[2])]
    shard_file(tmp_path / "in").write_bytes(b"".join(parts) + text(good[3])[:-30])
    outcome = ingest(home, tmp_path / "in")
    assert (outcome.landed, outcome.quarantined) == (1, 4)
    assert landed(home, "rollout_records", "line_number, sample_idx") == [(1, 0), (3, 1), (7, 2)]
    reasons = dict(landed(home, "quarantine", "locator, reason"))
    assert reasons.keys() == {"line 2", "line 4", "line 6", "line 8"}
    assert reasons["line 2"] == "filled with NUL bytes" and reasons["line 4"] == "a list, not a record"
    assert landed(home, "rollout_files", "run_name, shard_number, line_count, record_count, unreadable_line_count") == [
        (RUN, 0, 7, 3, 4)
    ]


def test_a_last_line_without_a_newline_is_a_record(home: Path, tmp_path: Path) -> None:
    shard_file(tmp_path / "in").write_bytes(text(record(0, 0), record(0, 1))[:-1])
    ingest(home, tmp_path / "in")
    assert landed(home, "rollout_records", "sample_idx") == [(0,), (1,)]


@pytest.mark.parametrize("suffix", [".gz", ".zst"])
def test_compressed_shards_land_the_same_and_a_cut_one_lands_what_it_holds(
    home: Path, tmp_path: Path, suffix: str
) -> None:
    data = text(*(record(0, i, range(200)) for i in range(600)))
    pack = gzip.compress if suffix == ".gz" else lambda d: zstandard.ZstdCompressor().compress(d)
    plain = shard_file(tmp_path / "in")
    packed = plain.with_name(plain.name.replace("000000", "000001") + suffix)
    plain.write_bytes(data)
    packed.write_bytes(pack(data[:50_000]) + pack(data[50_000:]))
    ingest(home, tmp_path / "in")
    rows = landed(home, "rollout_records", "line_number, record_digest, source_name like '%1.jsonl%'")
    assert [row[:2] for row in rows if row[2]] == [row[:2] for row in rows if not row[2]]
    assert len(rows) == 1200
    whole = pack(data)
    packed.write_bytes(whole[: len(whole) * 2 // 3])
    assert ingest(home, packed).quarantined >= 1
    count = len(landed(home, "rollout_records", "line_number")) - 600
    assert 300 < count < 600
    assert f"line {count + 2}" in dict(landed(home, "quarantine", "locator, reason"))


def test_a_run_and_its_start_come_from_the_metadata(home: Path, tmp_path: Path) -> None:
    file = tmp_path / f"{RUN}_metadata.jsonl"
    rows = [
        {"run_name": "stated", "git_commit": "abc", "model_name": "m", "timestamp": "2026-09-15T08:27:42+02:00"},
        {"model_name": None, "timestamp": 1789453662},
        {"run_name": 7, "timestamp": "yesterday"},
    ]
    file.write_bytes(text(*rows) + b"[]\n\n{")
    assert ingest(home, file).quarantined == 2
    columns = "line_number, run_name, git_commit, model_name, cast(started_at as varchar)"
    assert landed(home, "rollout_runs", columns) == [
        (1, "stated", "abc", "m", "2026-09-15 06:27:42"),
        (2, RUN, None, None, "2026-09-15 06:27:42"),
        (3, RUN, None, None, None),
    ]


def test_an_unchanged_shard_is_skipped_and_a_changed_one_replaced(home: Path, tmp_path: Path) -> None:
    file = shard_file(tmp_path / "in")
    file.write_bytes(text(record(0, 0), record(0, 1)))
    assert ingest(home, file).landed == 1
    file.touch()
    assert ingest(home, file).line() == "rollouts: 0 landed, 1 unchanged"
    same_size = text(record(0, 0), record(0, 7))
    file.write_bytes(same_size)
    assert ingest(home, file).landed == 1
    assert landed(home, "rollout_records", "sample_idx") == [(0,), (7,)]
    file.write_bytes(same_size + text(record(0, 2)))
    assert ingest(home, file).landed == 1
    assert landed(home, "rollout_records", "sample_idx") == [(0,), (2,), (7,)]


def test_a_declared_tokenizer_makes_shards_be_read_again(home: Path, tmp_path: Path) -> None:
    file = shard_file(tmp_path / "in")
    file.write_bytes(text(record(0, 0, [1, 99, OPEN])))
    ingest(home, file)
    assert landed(home, "rollout_records", "special_positions, special_ids") == [([2], [OPEN])]
    assert landed(home, "rollout_files", "special_token_ids") == [([248046, 248058, 248059],)]
    with open(home / "declared" / "tokenizers.csv", "a") as declared:
        declared.write("*Other*,99,98,,,its tokenizer.json\n")
    assert ingest(home, file).landed == 1
    assert landed(home, "rollout_records", "special_positions, special_ids") == [([1, 2], [99, OPEN])]
    assert ingest(home, file).landed == 0
    with open(home / "declared" / "tokenizers.csv", "a") as declared:
        declared.write("*Wrong*,many,,,,\n")
    with pytest.raises(DeclaredError, match=r"tokenizers.csv, line \d, column 'tool_call_open_id': 'many'"):
        ingest(home, file)


def test_tokens_are_kept_on_request_and_stay(home: Path, tmp_path: Path) -> None:
    file = shard_file(tmp_path / "in")
    file.write_bytes(text(record(0, 0, [1, 2], [-0.5, 0.0]), record(0, 1, [3], logprobs=None)))
    ingest(home, file)
    assert landed(home, "rollout_tokens") == []
    assert ingest(home, file, keep_tokens=True).landed == 1
    expected = [(1, [5, 6], [1, 2], [-0.5, 0.0]), (2, [5, 6], [3], [-0.5])]
    columns = "line_number, prompt_token_ids, response_token_ids, logprobs"
    assert landed(home, "rollout_tokens", columns) == expected
    assert ingest(home, file).landed == 0
    assert landed(home, "rollout_tokens", columns) == expected


def test_many_records_land_in_several_batches(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ingest.open_instruct.shards.BATCH_RECORDS", 7)
    monkeypatch.setattr("ingest.open_instruct.shards.BATCH_TOKENS", 10)
    shard_file(tmp_path / "in").write_bytes(text(*(record(0, i) for i in range(30))))
    ingest(home, tmp_path / "in", keep_tokens=True)
    assert landed(home, "rollout_records", "sample_idx") == [(i,) for i in range(30)]
    assert len(landed(home, "rollout_tokens", "line_number")) == 30


def test_what_was_looked_for_is_told(home: Path, tmp_path: Path) -> None:
    other = tmp_path / "rollouts.jsonl"
    other.write_bytes(text(record(0, 0)))
    with pytest.raises(SourceError, match="its name does not tell run and shard"):
        ingest(home, other)
    with pytest.raises(SourceError, match="looked for <run name>_rollouts_<number>"):
        ingest(home, tmp_path)
    with pytest.raises(SourceError, match="no such file or folder"):
        ingest(home, tmp_path / "gone")
    told = seamline("ingest", "rollouts", tmp_path / "gone", home=home, check=False)
    assert told.returncode == 1 and "no such file or folder" in told.stderr


def test_several_processes_land_what_one_lands(home: Path, tmp_path: Path) -> None:
    for number in range(3):
        shard_file(tmp_path / "in", number).write_bytes(text(*(record(number, i) for i in range(5))))
    (tmp_path / "in" / f"{RUN}_metadata.jsonl").write_bytes(text({"run_name": RUN}))
    told = seamline("ingest", "rollouts", tmp_path / "in", home=home)
    assert told.stdout.splitlines() == [
        "rollouts: 4 landed, 0 unchanged",
        "  rollout_files: 3 rows",
        "  rollout_records: 15 rows",
        "  rollout_runs: 1 rows",
    ]


@settings(max_examples=300)
@given(
    st.lists(st.binary(max_size=40).map(lambda b: b.replace(b"\n", b"")), max_size=8), st.integers(8, 24), st.booleans()
)
def test_lines_are_those_between_newlines(tmp_path_factory, wanted: list[bytes], buffer: int, ends: bool) -> None:
    file = tmp_path_factory.mktemp("lines") / "file"
    data = b"\n".join(wanted) + (b"\n" if ends and wanted else b"")
    file.write_bytes(data)
    before = lines.BUFFER_BYTES, lines.LONGEST_LINE_BYTES
    lines.BUFFER_BYTES, lines.LONGEST_LINE_BYTES = buffer, 30
    try:
        found = [(line.number, bytes(line.view()), line.is_too_long, line.digest()) for line in lines.read_lines(file)]
    finally:
        lines.BUFFER_BYTES, lines.LONGEST_LINE_BYTES = before
    expected = data.split(b"\n")
    expected = expected[:-1] if expected[-1] == b"" else expected
    assert [number for number, *_ in found] == list(range(1, len(expected) + 1))
    for (_, text, is_too_long, digest), line in zip(found, expected, strict=True):
        assert digest == xxhash.xxh3_128_digest(line)
        assert text == (b"" if is_too_long else line)
        assert is_too_long <= (len(line) > 30)
        assert is_too_long or len(line) <= 30 + buffer


def test_a_line_too_long_for_memory_is_set_aside(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "BUFFER_BYTES", 1024)
    monkeypatch.setattr(lines, "LONGEST_LINE_BYTES", 4096)
    shard_file(tmp_path / "in").write_bytes(text(record(0, 0)) + b"\0" * 100_000 + b"\n" + text(record(0, 1)))
    ingest(home, tmp_path / "in")
    assert landed(home, "rollout_records", "line_number, sample_idx") == [(1, 0), (3, 1)]
    assert landed(home, "quarantine", "locator, reason") == [
        ("line 2", "longer than 8 MiB: too long to be parsed in bounded memory")
    ]
