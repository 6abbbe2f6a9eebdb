"""What one looks through stays small: files side by side in a folder, lines of a file."""

import subprocess
from collections import Counter
from pathlib import Path

import pytest

from tests.python.support.command import ROOT

MOST_FILES = 15
MOST_LINES = {".py": 300, ".sql": 120}
STILL_LARGER = {"macros/position_keys.sql"}
"""To be taken apart. This list only shrinks: what has become small is crossed off."""


@pytest.fixture(scope="module")
def files() -> list[Path]:
    """The project's own files: what git holds, and what is new and not ignored."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return [path for line in listed.stdout.splitlines() if (path := ROOT / line).is_file()]


def test_no_folder_has_more_than_15_files_side_by_side(files):
    counts = Counter(
        path.parent.relative_to(ROOT).as_posix()
        for path in files
        # An upstream sample has as many files as upstream wrote; seeds/ is laid out as a home's declared/, a file for
        # each table; `__init__.py` and dbt's YAML are read by machines
        if path.parent != ROOT / "seeds"
        and not path.is_relative_to(ROOT / "tests" / "data")
        and not path.name.startswith("_")
        and path.parent != ROOT
    )
    large = {folder for folder, count in counts.items() if count > MOST_FILES}
    assert large == {name for name in STILL_LARGER if (ROOT / name).is_dir()}, counts


@pytest.mark.parametrize("suffix", MOST_LINES)
def test_no_file_is_longer_than_its_kind_may_be(suffix, files):
    lengths = {f.relative_to(ROOT).as_posix(): len(f.read_text().splitlines()) for f in files if f.suffix == suffix}
    large = {name for name, lines in lengths.items() if lines > MOST_LINES[suffix]}
    assert large == {name for name in STILL_LARGER if name.endswith(suffix)}
