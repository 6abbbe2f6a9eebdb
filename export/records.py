"""Exports the records themselves, as they were landed: candidates and teacher calls as JSON lines, saved steps."""

import json
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

import duckdb

from homes.candidates import CANDIDATE, TOKEN_ARRAYS
from homes.names import file_stem

_BATCH_ROWS = 512
_ARRAY_NAMES = tuple(f'"{name}"' for name in TOKEN_ARRAYS)
_STATE_OF_TRAINING = re.compile(
    r"(^|/)(optim|rng|scheduler|extra_state|data\.pt|dataloader|latest_checkpointed|critic)|(^|/)model_world_size"
)
"""Files of a saved step that the archive leaves out: they continue a training, they are no evidence of it."""

CALL = ("call_id", "run_id", "step", "group_id", "role", "model", "cost_usd", "judge_idx")


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
    """`<run>/rollout/round_<N>.jsonl` and `round_<N>.attempt<K>.jsonl`: landed lines in their order, each labelled."""
    rounds = "select source_name, round_in_path, attempt_in_path from candidate_files"
    names = {source: _round_name(source, *place) for source, *place in warehouse.execute(rounds).fetchall()}
    with _files(folder) as out:
        for row, label in _labelled_rows(warehouse, "candidate_records", "candidates"):
            fields = {key: row[column] for column, key, kind in CANDIDATE if kind != "json"}
            nested = {key: row[column] for column, key, kind in CANDIDATE if kind == "json"}
            path = f"{file_stem(label['run'])}/rollout/{names[row['source_name']]}.jsonl"
            out(path, _line(label, fields, nested, row["other_json"], profile))


def _round_name(source_name: str, number: int | None, attempt: int | None) -> str:
    if number is None:
        return source_name
    return f"round_{number}" if attempt is None else f"round_{number}.attempt{attempt}"


def write_calls(warehouse: duckdb.DuckDBPyConnection, folder: Path, profile: str) -> None:
    """`<run>/teacher_calls/<worker>/<file>.jsonl`: landed calls in their order, each labelled."""
    paths = warehouse.execute("select distinct source_name, source from teacher_call_rows").fetchall()
    names = {source: _place_of(Path(path)) for source, path in paths}
    with _files(folder) as out:
        for row, label in _labelled_rows(warehouse, "teacher_call_records", "teacher_call_rows"):
            fields = {name: row[name] for name in CALL}
            fields["created_at"] = row["created_at"] and row["created_at"].isoformat()
            nested = {"request": row["request_json"], "response": row["response_json"], "row": row["row_json"]}
            path = f"{file_stem(label['run'])}/teacher_calls/{names[row['source_name']]}"
            out(path, _line(label, fields, nested, row["other_json"], profile))


def _place_of(path: Path) -> str:
    """The file's path below its teacher_calls/, else its name."""
    place = path.parts.index("teacher_calls") + 1 if "teacher_calls" in path.parts[:-1] else -1
    return "/".join(path.parts[place:])


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


def _labelled_rows(warehouse: duckdb.DuckDBPyConnection, records: str, mart: str) -> Iterator[tuple[dict, dict]]:
    """(row of `records`, its row in the mart) in the order of files and lines, a few at a time.

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
                    label_of = _labels(labels, mart, source_name)
                yield row, label_of[row["line_number"], row.get("judge_idx")]
    finally:
        warehouse.execute(f"set threads = {threads}; set preserve_insertion_order = {is_ordered}")


def _labels(labels: duckdb.DuckDBPyConnection, mart: str, source_name: str) -> dict[tuple, dict]:
    judge = "judge_idx" if mart == "teacher_call_rows" else "null"
    done = labels.execute(
        f"select line_number, {judge}, run_id, drop_reason, is_diagnostic from {mart} where source_name = ?",
        [source_name],
    )
    return {
        (line, judge_idx): {"run": run, "drop_reason": drop_reason, "is_diagnostic": is_diagnostic, "line": line}
        for line, judge_idx, run, drop_reason, is_diagnostic in done.fetchall()
    }


@contextmanager
def _files(folder: Path) -> Iterator:
    """A function that appends a line to a file below `folder`; it keeps the last file open."""
    open_file: list[tuple[str, TextIO]] = []

    def write(path: str, line: str) -> None:
        if not open_file or open_file[0][0] != path:
            if open_file:
                open_file.pop()[1].close()
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            open_file.append((path, open(folder / path, "a", encoding="utf-8")))  # noqa: SIM115 - closed at the next path
        open_file[0][1].write(line)

    try:
        yield write
    finally:
        if open_file:
            open_file[0][1].close()


def _line(label: dict, fields: dict, nested: dict[str, str | None], rest: str | None, profile: str) -> str:
    """A record as one line: its label, its own fields, its nested values as they were landed, and its other fields."""
    parts = [json.dumps({"_seamline": label} | fields)[:-1]]
    parts += [f", {json.dumps(key)}: {_reduced(text, profile) if text else 'null'}" for key, text in nested.items()]
    others = _reduced(rest, profile) if rest else "{}"
    if others != "{}":
        parts.append(f", {others[1:-1]}")
    return "".join(parts) + "}\n"


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
