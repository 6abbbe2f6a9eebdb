"""A log of another format with the same framing: its own header, the same records."""

from pathlib import Path

from ingest.formats.framing import Found, LogHeader, Lost, looks_like_a_log, records
from simulate.curves.wandb_writer import FILE_HEADER, frame

OTHER = LogHeader("SwanLab backup", b":SWL", 0xE1D6, 2)


def test_a_log_is_known_by_its_own_header(tmp_path: Path) -> None:
    with open(tmp_path / "log", "wb") as out:
        frame([b"a" * 40_000, b"b"], out)
    content = (tmp_path / "log").read_bytes()
    assert content.startswith(FILE_HEADER)
    (tmp_path / "log").write_bytes(OTHER.raw + content[len(FILE_HEADER) :])
    assert looks_like_a_log(tmp_path / "log", OTHER)
    assert [part.payload for part in records(tmp_path / "log", OTHER) if isinstance(part, Found)] == [
        b"a" * 40_000,
        b"b",
    ]
    (tmp_path / "log").write_bytes(content)
    first, *others = records(tmp_path / "log", OTHER)
    assert first == Lost(0, 7, "the file header is not that of a SwanLab backup", False)
    assert all(isinstance(part, Found) for part in others)
