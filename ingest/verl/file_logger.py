"""Reader of verl FileLogger files: `verl_metrics/<project>/<experiment>.jsonl`, a line {"step": N, "data": {...}}."""

from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa

from homes.landing import Batches, Source
from homes.names import storable
from homes.paths import Home
from ingest.formats.heads import may_hold
from ingest.formats.json_lines import first_objects, read_objects
from ingest.formats.json_values import OBJECTS, Fields, json_text
from ingest.formats.rows import FieldCounts, quarantine_line
from ingest.formats.values import Unreadable, as_integer
from ingest.history.tables import LogFacts, history_tables
from ingest.history.values import Leaf, columns
from ingest.run import Outcome, expand, file_source, ingest

KIND = "native-metrics"
FOLDER = "verl_metrics"
BATCH_LINES = 2_000


def ingest_native_metrics(home: Home, paths: list[str], run_id: str | None = None) -> Outcome:
    """Land verl FileLogger files; `run_id` names the run of all of them."""
    files = expand(paths, f'{FOLDER}/<project>/*.jsonl, and *.jsonl with lines {{"step": N, "data": {{...}}}}', matches)
    return ingest(home, KIND, files, partial(identify, run_id), partial(read, run_id))


def matches(path: Path) -> bool:
    """Whether a file found in a tree belongs to this reader: by its lines; in its place they may be damaged."""
    if path.suffix != ".jsonl":
        return False
    if FOLDER in path.parts[:-1]:
        return may_hold(path, {"step", "data"}, at_least=2)
    return any(set(fields) == {"step", "data"} for fields in first_objects(path))


def identify(run_id: str | None, path: Path) -> Source:
    """The source of a file; naming its run makes another content of it."""
    return file_source(KIND, path, run_id or "")


def read(run_id: str | None, source: Source) -> Batches:
    """The history that is one file: a row a line, its step the trainer's; `launch_name` is what follows `.before_`.

    Null in a file is NaN, an infinity or null: verl writes all three alike. What stands beside `step` and `data` lands
    under its key with `_` before it.
    """
    path = Path(source.path)
    experiment, _, launch = path.name.removesuffix(".jsonl").partition(".before_")
    around = next((p.parent.name for p in path.parents if p.name == FOLDER), None)
    facts = LogFacts("verl", run_id or around or experiment, run_name=experiment, project=path.parent.name)
    facts.launch_name, facts.lost_tail_bytes = launch or None, None
    rows, seen = _Lines(), FieldCounts("native_metrics")
    for number, fields in read_objects(path):
        if isinstance(fields, Unreadable):
            yield quarantine_line(number, fields)
            continue
        step, data = as_integer(fields.get("step")), fields.get("data")
        if step is None or not isinstance(data, OBJECTS):
            yield quarantine_line(number, "no whole number `step` and object `data`; is this a verl FileLogger file?")
            continue
        metrics = dict(data.items())
        seen.add(metrics)
        beside = {f"_{key}": value for key, value in fields.items() if key not in ("step", "data")}
        rows.add(number, step, metrics | beside)
        facts.history_row_count += 1
        del data, metrics, beside
        if len(rows.steps) >= BATCH_LINES:
            yield from rows.batches()
            rows = _Lines(rows.first_row + len(rows.steps))
    yield from rows.batches()
    yield from seen.batches()
    facts.record_count = facts.history_row_count
    yield facts.batch()


class _Lines:
    """Some lines of a file, on their way to landing rows."""

    def __init__(self, first_row: int = 0) -> None:
        self.first_row = first_row
        self.steps: list[int] = []
        self._numbers: list[int] = []
        self._rows: list[int] = []
        self._keys: list[str] = []
        self._texts: list[str] = []
        self._nested: list[Leaf] = []

    def add(self, number: int, step: int, values: Fields) -> None:
        """One more line: its number from 1, the trainer's step, its values by metric."""
        row = len(self.steps)
        self._numbers.append(number)
        self.steps.append(step)
        for key, value in values.items():
            key, text = storable(key), json_text(value)
            if text.startswith("{"):
                self._nested.append(Leaf(row, (key,), text))
            else:
                self._rows.append(row)
                self._keys.append(key)
                self._texts.append(text)

    def batches(self) -> Batches:
        """Their rows of `history_rows` and `history_values`."""
        found = columns(
            np.array(self._rows, dtype=np.int64),
            pa.array(self._keys, pa.string()),
            pa.array(self._texts, pa.string()),
            self._nested,
        )
        yield from history_tables(
            found, pa.array(self._numbers, pa.int64()), self.first_row, pa.array(self.steps, pa.int64())
        )
        for repeat in found.repeats:
            yield quarantine_line(self._numbers[repeat.row], repeat.reason("line"))
