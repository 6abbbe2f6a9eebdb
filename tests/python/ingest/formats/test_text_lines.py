"""Lines of any length and file: what is too long or damaged is said in its place, and memory stays bounded."""

import gzip
import subprocess
import sys
from pathlib import Path

import pytest
import zstandard

from ingest.formats.json_lines import read_objects
from ingest.formats.lines import text_lines
from ingest.formats.values import Unreadable
from tests.python.support.command import ROOT

MEASURED = """
import resource, sys
from ingest.formats.json_lines import read_objects
from pathlib import Path
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
found = [(number, str(fields)) for number, fields in read_objects(Path(sys.argv[1]))]
print(found, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""


def test_a_line_of_gigabytes_is_set_aside_in_bounded_memory(tmp_path: Path) -> None:
    frames = zstandard.ZstdCompressor().compress(b"x" * (64 << 20))
    with open(tmp_path / "a.jsonl.zst", "wb") as file:
        file.write(zstandard.ZstdCompressor().compress(b'{"a": 1}\n{"a": "'))
        for _ in range(32):
            file.write(frames)
        file.write(zstandard.ZstdCompressor().compress(b'"}\n{"a": 2}\n'))
    arguments = [sys.executable, "-c", MEASURED, str(tmp_path / "a.jsonl.zst")]
    done = subprocess.run(arguments, cwd=ROOT, capture_output=True, text=True, check=True)
    lines, _, grown = done.stdout.strip().rpartition(" ")
    assert lines == str(
        [
            (1, "{'a': 1}"),
            (2, "longer than 64 MiB: too long to be parsed in bounded memory"),
            (3, "{'a': 2}"),
        ]
    )
    assert int(grown) < 400


def test_blank_lines_a_byte_order_mark_and_a_cut_end(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    file.write_bytes(b'\xef\xbb\xbf {"a": 1}\r\n\n \t\n{"a": NaN}\n[1]\n\xef\xbb\xbf{"a": 3}\n{"a": ')
    found = {number: str(fields) for number, fields in read_objects(file)}
    assert found[1] == "{'a': 1}" and found[4] == "{'a': nan}" and found[5] == "not a JSON object but array"
    assert found[6] == "{'a': 3}" and found[7].endswith("; the file ends inside this line")
    assert sorted(found) == [1, 4, 5, 6, 7]


@pytest.mark.parametrize("longest", [1, 100])
def test_a_damaged_file_is_said_after_its_last_good_line(tmp_path: Path, monkeypatch, longest: int) -> None:
    monkeypatch.setattr("ingest.formats.lines.LONGEST_TEXT_MIB", longest)
    whole = gzip.compress(b'{"a": 1}\n' + b"x" * (3 << 20), compresslevel=0)
    (tmp_path / "a.jsonl.gz").write_bytes(whole[: len(whole) // 2])
    *_, (line, problem) = text_lines(tmp_path / "a.jsonl.gz")
    assert isinstance(problem, Unreadable) and "can't be read further" in str(problem) and line.number in (2, 3)
