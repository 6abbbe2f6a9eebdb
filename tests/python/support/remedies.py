"""What a person does with the remedy of a finding: paste its lines into the declared files."""

import csv
import re
from pathlib import Path

from homes.schema import declared_tables


def lines_to_paste(remedy: str) -> list[tuple[str, list[str]]]:
    """(declared file, cells) of each line that the remedy offers; none where it is a command or a page."""
    _, *parts = re.split(r"^declared/(\w+)\.csv: ", remedy, flags=re.MULTILINE)
    lines = list(zip(parts[::2], parts[1::2], strict=True))
    return [(name, next(csv.reader([line.removesuffix("\n")], strict=True))) for name, line in lines]


def place(name: str, cells: list[str]) -> tuple[str, ...]:
    """The file and key of a line: two lines of one place can't both stand. A file without a key has a place a line."""
    table = declared_tables()[name]
    values = dict(zip(table.schema.names, cells, strict=True))
    return (name, *(values[column] for column in table.key or table.schema.names))


def paste(declared: Path, name: str, cells: list[str]) -> None:
    """Put a line into its file, in place of the line of the same key where there is one."""
    path = declared / f"{name}.csv"
    with open(path, newline="", encoding="utf-8") as handle:
        header, *rows = csv.reader(handle)
    assert header == declared_tables()[name].schema.names
    rows = [row for row in rows if place(name, row) != place(name, cells)]
    with open(path, "w", newline="", encoding="utf-8") as handle:
        csv.writer(handle, lineterminator="\n").writerows([header, *rows, cells])
