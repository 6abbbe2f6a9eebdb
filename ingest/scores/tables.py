"""Reader of evaluation scores, CSV or JSONL; a model is named by `model_id` or by cell, family and step."""

import csv
import io
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from homes.landing import Batches, Source
from homes.paths import Home
from ingest.formats.json_values import json_object
from ingest.formats.lines import text_lines
from ingest.formats.rows import quarantine_line, rows_to_batches
from ingest.formats.values import Unreadable, as_name, checked_number
from ingest.run import Outcome, expand, file_source, ingest

KIND = "scores"
_MARKS = {"suite", "score"}
_MODEL = ({"model_id"}, {"cell", "family", "step"})


def ingest_scores(home: Home, paths: Iterable[str]) -> Outcome:
    """Land every scores file below `paths`."""
    return ingest(
        home, KIND, expand(paths, "CSV or JSONL with suite and score", is_scores), partial(file_source, KIND), read
    )


def is_scores(path: Path) -> bool:
    """Whether a .csv or .jsonl file holds evaluation scores, by its header or its first line that can be read."""
    if path.suffix not in (".csv", ".jsonl"):
        return False
    with open(path, "rb") as handle:
        head = handle.read(65536)
    if path.suffix == ".csv":
        names = set(next(csv.reader(io.StringIO(head.decode("utf-8-sig", "replace"))), []))
        return _names_a_score(names)
    for line in head.splitlines()[:20]:
        try:
            return _names_a_score(set(json_object(line)))
        except Unreadable:
            continue
    return False


def _names_a_score(names: set[str]) -> bool:
    return names >= _MARKS and any(names >= model for model in _MODEL)


def read(source: Source) -> Batches:
    """Rows of evaluation_scores; a line that names no model or suite, or whose score is no number, is quarantined."""
    rows = []
    for line_number, record in _records(Path(source.path)):
        try:
            if isinstance(record, Unreadable):
                raise record
            rows.append({"line_number": line_number} | _row(record))
        except Unreadable as problem:
            yield quarantine_line(line_number, problem)
    yield from rows_to_batches({"evaluation_scores": rows})


def _row(record: dict[str, Any]) -> dict[str, Any]:
    row = {name: as_name(record.get(name)) for name in ("model_id", "cell", "family", "suite", "harness")}
    row["step_name"] = as_name(record.get("step"))
    if row["suite"] is None:
        raise Unreadable("no suite")
    if row["model_id"] is None and None in (row["cell"], row["family"], row["step_name"]):
        raise Unreadable("names no model: neither model_id nor cell, family and step")
    return row | {"score": checked_number(record.get("score"), "score")}


def _records(path: Path) -> Iterator[tuple[int, dict[str, Any] | Unreadable]]:
    if path.suffix == ".csv":
        try:
            reader = csv.DictReader(io.StringIO(path.read_text("utf-8-sig"), newline=""))
            for row in reader:
                yield reader.line_num, row
        except (UnicodeDecodeError, csv.Error) as error:
            yield 1, Unreadable(f"can't be read as CSV: {error}")
        return
    for line, raw in text_lines(path):
        try:
            yield line.number, raw if isinstance(raw, Unreadable) else json_object(raw)
        except Unreadable as problem:
            yield line.number, problem
