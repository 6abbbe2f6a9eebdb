"""Reader of LLM API call logs (records around a response, or the APIs' own objects) and of the run's own ledger."""

from pathlib import Path

from homes.landing import Batches, Source
from homes.paths import Home
from ingest.formats.heads import may_hold
from ingest.formats.json_lines import read_objects, read_objects_and_lines, take_columns
from ingest.formats.json_values import other_json
from ingest.formats.rows import FieldCounts, Rows, quarantine_line
from ingest.formats.values import Unreadable
from ingest.run import Outcome, expand, file_source, ingest
from ingest.teacher_calls.calls import CALL_KEYS, calls_of, is_call, may_be_followed_by_a_call

KIND = "teacher-calls"
FOLDER = "teacher_calls"
LEDGER = "teacher_spend.jsonl"
FIRST_LINES = 5

SPEND = (
    ("run_id", "run_id", "text"),
    ("step", "step", "integer"),
    ("role", "role", "text"),
    ("model", "model", "text"),
    ("cost_usd", "cost_usd", "number"),
)


def ingest_teacher_calls(home: Home, paths: list[str]) -> Outcome:
    """Land call logs, and the ledgers among them (files named teacher_spend.jsonl)."""
    files = expand(paths, f"{FOLDER}/*/*.jsonl, {LEDGER}, and *.jsonl of calls with usage and model", matches)
    return ingest(home, KIND, files, identify, read)


def matches(path: Path) -> bool:
    """Whether a file found in a tree belongs to this reader.

    Its name or place may tell, and its lines must not say otherwise; elsewhere one of its first lines must be a call.
    """
    if path.name == LEDGER:
        return may_hold(path, {"cost_usd"})
    if path.suffix != ".jsonl":
        return False
    if FOLDER in path.parts[:-1]:
        return may_hold(path, CALL_KEYS)
    return _holds_a_call(path)


def _holds_a_call(path: Path) -> bool:
    """Whether one of the first lines is a call. Lines that can only tell later (a streamed response states its usage
    at its end, a rollout was judged or not) are passed over."""
    for number, fields in read_objects(path):
        if isinstance(fields, Unreadable):
            continue
        if is_call(fields):
            return True
        if number >= FIRST_LINES and not may_be_followed_by_a_call(fields):
            return False
    return False


def identify(path: Path) -> Source:
    """The source of a file."""
    return file_source(KIND, path)


def read(source: Source) -> Batches:
    """Rows of a ledger or of a call log."""
    path = Path(source.path)
    return _read_ledger(path) if path.name == LEDGER else _read_calls(path)


def _read_ledger(path: Path) -> Batches:
    rows, seen = Rows("teacher_spend"), FieldCounts("teacher_spend")
    for number, fields in read_objects(path):
        if isinstance(fields, Unreadable):
            yield quarantine_line(number, fields)
            continue
        seen.add(fields)
        row = {"line_number": number, "run_in_path": path.parent.name} | take_columns(fields, SPEND)
        rows.add(row | {"other_json": other_json(fields)})
        yield from rows.full_batches()
    yield from rows.last_batches()
    yield from seen.batches()


def _read_calls(path: Path) -> Batches:
    around = next((p.parent.name for p in path.parents if p.name == FOLDER), None)
    rows, seen = Rows("teacher_call_records"), FieldCounts("teacher_calls")
    for number, fields, raw in read_objects_and_lines(path):
        if isinstance(fields, Unreadable):
            yield quarantine_line(number, fields)
            continue
        seen.add(fields)
        found = list(calls_of(fields))
        for index, call in enumerate(found):
            line = None if index else raw.decode("utf-8", "replace")
            rows.add(call | {"line_number": number, "run_in_path": around, "line_json": line})
        if not found:
            reason = "no `response`, `usage`, `call_id` or `judge_evaluations`; is this a call log?"
            yield quarantine_line(number, reason)
            continue
        yield from rows.full_batches()
    yield from rows.last_batches()
    yield from seen.batches()
