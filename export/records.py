"""Exports the records themselves, as they were landed: candidates and teacher calls as JSON lines, saved steps."""

import csv
import json
import re
import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Self, TextIO

import duckdb

from homes.candidates import TOKEN_ARRAYS
from homes.names import file_stem

_BATCH_ROWS = 512
_ARRAY_NAMES = tuple(f'"{name}"' for name in TOKEN_ARRAYS)
_STATE_OF_TRAINING = re.compile(
    r"(^|/)(optim|rng|scheduler|extra_state|data\.pt|dataloader|latest_checkpointed|critic)|(^|/)model_world_size"
)
"""Files of a saved step that the archive leaves out: they continue a training, they are no evidence of it."""

CANDIDATE_LABEL = ("line_number", "drop_reason", "is_diagnostic")
CALL_LABEL = ("line_number", "judge_idx", "drop_reason", "is_diagnostic")
"""Columns of the marts in a file of labels, after `line`: the line in the file of records beside it, from 1.
`line_number` is that of the file which was ingested."""


def record_bytes(warehouse: duckdb.DuckDBPyConnection, kind: str) -> list[tuple[str, int]]:
    """About how many bytes each run's `candidates` or `teacher_calls` will have."""
    sizes = "select run_id, size_bytes from record_sizes where record_kind = ? order by run_id"
    return warehouse.execute(sizes, [kind]).fetchall()


def saved_step_bytes(warehouse: duckdb.DuckDBPyConnection) -> list[tuple[str, int]]:
    """How many bytes of each run's saved steps will be copied."""
    found: dict[str, int] = {}
    for run, _, _, path, size in _saved_files(warehouse):
        if not _STATE_OF_TRAINING.search(path):
            found[run] = found.get(run, 0) + size
    return sorted(found.items())


def write_candidates(warehouse: duckdb.DuckDBPyConnection, folder: Path, profile: str) -> None:
    """`<run>/rollout/round_<N>.jsonl` and `round_<N>.attempt<K>.jsonl`: landed lines in their order, and beside each
    file its labels."""
    rounds = "select source_name, round_in_path, attempt_in_path from candidate_files"
    names = {source: _round_name(source, *place) for source, *place in warehouse.execute(rounds).fetchall()}
    with _Files(folder, CANDIDATE_LABEL) as files:
        for row, run, label in _labelled_rows(warehouse, "candidate_records", "candidates", CANDIDATE_LABEL):
            path = f"{file_stem(run)}/rollout/{names[row['source_name']]}"
            files.write(path, _reduced(row["line_json"], profile), label)


def _round_name(source_name: str, number: int | None, attempt: int | None) -> str:
    if number is None:
        return source_name
    return f"round_{number}" if attempt is None else f"round_{number}.attempt{attempt}"


def write_calls(warehouse: duckdb.DuckDBPyConnection, folder: Path, profile: str) -> None:
    """`<run>/teacher_calls/<worker>/<file>.jsonl`: landed lines in their order, and beside each file the labels of
    their calls. A line that holds several is written once, for the run of its first."""
    paths = warehouse.execute("select distinct source_name, source from teacher_call_rows").fetchall()
    names = {source: _place_of(Path(path)) for source, path in paths}
    path = ""
    with _Files(folder, CALL_LABEL) as files:
        for row, run, label in _labelled_rows(warehouse, "teacher_call_records", "teacher_call_rows", CALL_LABEL):
            line = row["line_json"]
            if line is not None:
                path = f"{file_stem(run)}/teacher_calls/{names[row['source_name']]}"
            files.write(path, line and _reduced(line, profile), label)


def _place_of(path: Path) -> str:
    """The file's path below its teacher_calls/, else its name; without its suffix."""
    place = path.parts.index("teacher_calls") + 1 if "teacher_calls" in path.parts[:-1] else -1
    return "/".join((*path.parts[place:-1], path.name.removesuffix(".jsonl")))


def copy_saved_steps(warehouse: duckdb.DuckDBPyConnection, folder: Path) -> list[str]:
    """Copy what was landed of each `checkpoints/global_step_<N>/`, but for state that only training needs.

    Returns what is no longer where it was ingested, or no longer the same size.
    """
    absent = []
    for run, step, source, path, size in _saved_files(warehouse):
        if _STATE_OF_TRAINING.search(path):
            continue
        file = Path(source, path)
        target = folder / file_stem(run) / "checkpoints" / f"global_step_{step}" / path
        if not file.is_file() or file.stat().st_size != size:
            absent.append(f"{run} global_step_{step}/{path}")
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, target)
    return absent


def _saved_files(warehouse: duckdb.DuckDBPyConnection) -> list[tuple]:
    files = "select run_id, step, source, path, size_bytes from saved_step_files order by run_id, step, path"
    return warehouse.execute(files).fetchall()


def _labelled_rows(
    warehouse: duckdb.DuckDBPyConnection, records: str, mart: str, label: tuple[str, ...]
) -> Iterator[tuple[dict, str, tuple]]:
    """(row of `records`, its run, its label) in the order of files and lines, a few at a time.

    One thread reads files as they lie, without a sort; labels are looked up a file at a time, because a join would
    hold every text in memory.
    """
    labels, label_of, source_name = warehouse.cursor(), {}, None
    before = warehouse.execute("select current_setting('threads'), current_setting('preserve_insertion_order')")
    [(threads, is_ordered)] = before.fetchall()
    warehouse.execute("set threads = 1; set preserve_insertion_order = true")
    try:
        for batch in warehouse.sql(f"select * from {records}").to_arrow_reader(_BATCH_ROWS):
            for row in batch.to_pylist():
                if row["source_name"] != source_name:
                    source_name = row["source_name"]
                    label_of = _labels(labels, mart, label, source_name)
                yield row, *label_of[row["line_number"], row.get("judge_idx")]
    finally:
        warehouse.execute(f"set threads = {threads}; set preserve_insertion_order = {is_ordered}")


def _labels(
    labels: duckdb.DuckDBPyConnection, mart: str, columns: tuple[str, ...], source_name: str
) -> dict[tuple, tuple[str, tuple]]:
    """(run, label) of each record of a source by its line and, of a line of several calls, its place there."""
    names = ", ".join(columns[:-1])
    done = labels.execute(
        f"select run_id, {names}, cast(is_diagnostic as varchar) as is_diagnostic from {mart} where source_name = ?",
        [source_name],
    )
    return {
        (label[0], label[1] if "judge_idx" in columns else None): (run, tuple(label)) for run, *label in done.fetchall()
    }


class _Files:
    """Pairs of files below a folder: `<path>.jsonl` of records, and `<path>.labels.csv` of what is said of each. The
    last pair stays open."""

    def __init__(self, folder: Path, label: tuple[str, ...]) -> None:
        self._folder, self._label = folder, label
        self._path: str | None = None
        self._open = ExitStack()
        self._line_counts: dict[str, int] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def write(self, path: str, line: str | None, label: tuple) -> None:
        """Append a record and its label; without a record another label of the last."""
        if path != self._path:
            self._go_to(path)
        if line is not None:
            self._line_counts[path] += 1
            self._records.write(line + "\n")
        self._labels.writerow((self._line_counts[path], *label))

    def _go_to(self, path: str) -> None:
        self._open.close()
        (self._folder / path).parent.mkdir(parents=True, exist_ok=True)
        self._records, labels = self._append(f"{path}.jsonl"), self._append(f"{path}.labels.csv")
        self._labels, self._path = csv.writer(labels, lineterminator="\n"), path
        if path not in self._line_counts:
            self._labels.writerow(("line", *self._label))
            self._line_counts[path] = 0

    def _append(self, path: str) -> TextIO:
        # closed with the pair
        return self._open.enter_context(open(self._folder / path, "a", encoding="utf-8", newline=""))


def _reduced(text: str, profile: str) -> str:
    """JSON text without token arrays in the reading profile, as it is in the archive."""
    if profile != "reading" or not any(name in text for name in _ARRAY_NAMES):
        return text
    return json.dumps(_without_arrays(json.loads(text)), separators=(",", ":"))


def _without_arrays(value: object) -> object:
    if isinstance(value, list):
        return [_without_arrays(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {k: _without_arrays(v) for k, v in value.items() if not (k in TOKEN_ARRAYS and _is_numeric(v))}


def _is_numeric(value: object) -> bool:
    """Whether a value is an array of numbers, nested ones and nulls among them."""
    if isinstance(value, list):
        return all(_is_numeric(item) or item is None or isinstance(item, (int, float)) for item in value)
    return False
