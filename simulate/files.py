"""Text files of a simulation, the same bytes every time."""

import csv
from collections.abc import Iterable
from pathlib import Path


def write_csv(path: Path, header: list[str], rows: Iterable[Iterable]) -> None:
    """A CSV file with its header; None is an empty cell. Without rows no file is written."""
    rows = list(rows)
    if not rows:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w", newline="", encoding="utf-8") as handle:
        out = csv.writer(handle, lineterminator="\n")
        out.writerow(header)
        out.writerows(rows)
