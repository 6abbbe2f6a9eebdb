"""Whether a folder is an export as it was written: file list, checksums, and rows as the marts have them."""

import csv
import hashlib
from collections.abc import Iterator
from pathlib import Path

from export.run import FILES, SUMS, row_counts
from homes.errors import ExportError
from homes.paths import Home
from homes.warehouse import open_warehouse

SHOWN = 10
csv.field_size_limit(1 << 30)


def check(home: Home, folder: Path, target: str = "duckdb") -> str:
    """Check `folder` against its own lists and against the marts that `target` built; returns what was checked.

    Raises ExportError that names what differs.
    """
    sums = check_files(folder)
    with open_warehouse(home, target) as warehouse:
        expected = row_counts(warehouse, sums)
    checked = {path: count for path, count in expected.items() if path in sums}
    problems = [f"{path}: {found} rows where the mart has {wanted}" for path, wanted, found in _rows(folder, checked)]
    _refuse(folder, problems, "the marts changed since, or the file did: export again")
    return f"{folder}: {len(sums) + 1} files as listed; the rows of {len(checked)} CSV files equal their marts"


def check_files(folder: Path) -> dict[str, str]:
    """SHA-256 of every file but SHA256SUMS, all found as listed. Raises ExportError that names what differs."""
    if not ((folder / FILES).is_file() and (folder / SUMS).is_file()):
        raise ExportError(f"{folder}: no Seamline export: it has no {FILES} and {SUMS}; name a folder that has")
    sums = {path: digest for digest, path in (line.split("  ", 1) for line in _lines(folder / SUMS))}
    sizes = dict(line.rsplit("\t", 1) for line in _lines(folder / FILES))
    present = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir()}
    problems = [f"{path}: in {SUMS} but not in {FILES}" for path in sorted(set(sums) - set(sizes) - {FILES})]
    problems += [f"{path}: in {FILES} but not in {SUMS}" for path in sorted(set(sizes) - set(sums))]
    problems += [f"{path}: listed but not there" for path in sorted((set(sums) | set(sizes)) - present)]
    problems += [f"{path}: there but not listed" for path in sorted(present - set(sums) - set(sizes) - {SUMS})]
    for path in sorted(set(sums) & present):
        size = (folder / path).stat().st_size
        if path in sizes and str(size) != sizes[path]:
            problems.append(f"{path}: {size} bytes where {FILES} says {sizes[path]}")
        elif _sha256(folder / path) != sums[path]:
            problems.append(f"{path}: not the content that {SUMS} says")
    _refuse(folder, problems, "export again into this folder")
    return sums


def _refuse(folder: Path, problems: list[str], remedy: str) -> None:
    if problems:
        more = f"\n  and {len(problems) - SHOWN} more" if len(problems) > SHOWN else ""
        listed = "".join(f"\n  {problem}" for problem in problems[:SHOWN])
        raise ExportError(f"{folder}: {len(problems)} differences; {remedy}:{listed}{more}")


def _rows(folder: Path, expected: dict[str, int]) -> Iterator[tuple[str, int, int]]:
    """(path, expected, found) of each CSV file whose number of rows is another."""
    for path, wanted in sorted(expected.items()):
        with open(folder / path, newline="", encoding="utf-8") as handle:
            found = sum(1 for _ in csv.reader(handle)) - 1
        if found != wanted:
            yield path, wanted, found


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


def _sha256(path: Path) -> str:
    with open(path, "rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()
