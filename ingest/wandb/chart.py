"""W&B's chart exports: `<x axis>`, then `<label> - <metric>`, `__MIN` and `__MAX` for each run shown.

Each label is a run and becomes one log. Charts exported into one folder are read together, row by row of the same x, so
that a run's metrics stand side by side. W&B writes MIN and MAX of the points it merged into one: where they differ from
the value they land as `__MIN/<metric>` and `__MAX/<metric>`, which (starting with `_`) are no metrics.
"""

import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from homes.landing import Source, TableBatch, quarantine
from homes.names import file_stem, short_digest
from ingest.history.tables import LogFacts, history_tables
from ingest.run import file_digest
from ingest.wandb.csv_items import Items, cell_json, faulty_columns, read_blocks, read_header
from ingest.wandb.export import to_columns

_STEP_AXIS = "Step"


@dataclass(frozen=True)
class Chart:
    """The columns of one label in the chart exports of one folder."""

    folder: Path
    label: str
    files: tuple[Path, ...]
    run_id: str | None = None

    def source(self) -> Source:
        """The log of this label."""
        parts = [file_digest(file) for file in self.files] + [self.label, self.run_id or ""]
        digest = hashlib.sha256("\n".join(parts).encode("utf-8", "surrogatepass")).hexdigest()
        name = f"{file_stem(self.run_id or self.label)}-chart-{short_digest(str(self.folder))}"
        size = sum(file.stat().st_size for file in self.files)
        return Source("wandb", name, f"{self.folder}#{self.label}", digest, size)


def is_chart(path: Path) -> bool:
    """Whether a CSV file's header is that of a chart export."""
    if path.suffix != ".csv":
        return False
    _, *series = read_header(path)[0] or [""]
    return bool(series) and all(" - " in name for name in series)


def charts(files: list[Path], run_id: str | None) -> list[Chart]:
    """A chart for each folder and label among chart exports."""
    found: dict[tuple[Path, str], list[Path]] = {}
    for file in sorted(files):
        for label in dict.fromkeys(_series(name)[0] for name in read_header(file)[0][1:]):
            found.setdefault((file.parent, label), []).append(file)
    return [Chart(folder, label, tuple(paths), run_id) for (folder, label), paths in found.items()]


def _series(name: str) -> tuple[str, str]:
    """Label and key of a column; the key of a MIN or MAX starts with `__`."""
    label, _, metric = name.rpartition(" - ")
    for bound in ("__MIN", "__MAX"):
        if metric.endswith(bound):
            return label, f"{bound}/{metric.removesuffix(bound)}"
    return label, metric


def read_chart(chart: Chart) -> Iterator[TableBatch]:
    """The rows of one label: those in which one of its columns has a value."""
    rows: dict[tuple[str, int], int] = {}
    numbers: list[int] = []
    items: list[tuple[int, str, str]] = []
    for file in chart.files:
        names, line_count = read_header(file)
        faulty = faulty_columns(names)
        mine = {at: _series(name)[1] for at, name in enumerate(names) if at and _series(name)[0] == chart.label}
        for at in sorted(faulty.keys() & mine.keys()):
            yield quarantine("line 1", f"{file.name}: {faulty[at]}")
        mine = {at: key for at, key in mine.items() if at not in faulty}
        axis = "_step" if names[0] == _STEP_AXIS else names[0]
        seen: Counter[str] = Counter()
        for block in read_blocks(file, len(names), line_count):
            if isinstance(block, tuple):
                yield quarantine(block[1]["locator"][0].as_py(), f"{file.name}: {block[1]['reason'][0].as_py()}")
                continue
            cells = {at: block.cells[at].to_pylist() for at in (0, *mine)}
            for i, number in enumerate(block.numbers.tolist()):
                logged = {key: _json(cells[at][i]) for at, key in mine.items() if cells[at][i] is not None}
                if not logged:
                    continue
                x = _json(cells[0][i]) if cells[0][i] is not None else ""
                seen[x] += 1
                row = rows.setdefault((x, seen[x]), len(rows))
                if row == len(numbers):
                    numbers.append(number)
                    if x:
                        items.append((row, axis, x))
                items += [(row, key, text) for key, text in logged.items() if not _repeats_value(key, text, logged)]
    if not numbers:
        yield quarantine("line 1", f"no row of {chart.label!r} has a value")
    order = [row for _, row in sorted((_rank(x), row) for (x, _), row in rows.items())]
    place = {row: at for at, row in enumerate(order)}
    items.sort(key=lambda item: place[item[0]])
    laid_out = Items(
        np.array([numbers[row] for row in order], dtype=np.int64),
        np.array([place[row] for row, _, _ in items], dtype=np.int64),
        pa.array([key for _, key, _ in items], pa.string()),
        pa.array([text for _, _, text in items], pa.string()),
        [],
    )
    found, faults = to_columns(laid_out)
    yield from history_tables(found, pa.array(laid_out.numbers), 0)
    yield from faults
    facts = LogFacts("wandb", chart.run_id or chart.label, "export", run_name=chart.label)
    facts.record_count = facts.history_row_count = len(numbers)
    yield facts.batch()


def _json(cell: bytes) -> str:
    return cell_json(cell.decode("utf-8", "backslashreplace"))


def _repeats_value(key: str, text: str, logged: dict[str, str]) -> bool:
    """Whether a MIN or MAX says no more than the value itself."""
    return key.startswith(("__MIN/", "__MAX/")) and logged.get(key[len("__MIN/") :]) == text


def _rank(x: str) -> float:
    try:
        return float(x)
    except ValueError:
        return float("inf")
