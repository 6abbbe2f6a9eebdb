"""Reader of LLM API call logs (OpenAI Responses and chat completions) and of the run's own ledger of spend."""

from collections.abc import Iterator
from pathlib import Path

from homes.landing import Batches, Source
from homes.paths import Home
from ingest.formats.heads import may_hold
from ingest.formats.json_lines import first_objects, read_objects, take_columns
from ingest.formats.json_values import ARRAYS, OBJECTS, Fields, object_items, other_json
from ingest.formats.rows import FieldCounts, Rows, quarantine_line
from ingest.formats.values import Unreadable, as_integer
from ingest.run import Outcome, expand, file_source, ingest

KIND = "teacher-calls"
FOLDER = "teacher_calls"
LEDGER = "teacher_spend.jsonl"

OWN = (
    ("call_id", "call_id", "text"),
    ("model", "model", "text"),
    ("created_at", "created_at", "time"),
    ("cost_usd", "cost_usd", "number"),
)
PLACE = (
    ("run_id", "run_id", "text"),
    ("step", "step", "integer"),
    ("group_id", "group_id", "text"),
    ("role", "role", "text"),
)
USAGE = (
    ("usage_cost", "cost", "number"),
    ("input_tokens", "input_tokens", "integer"),
    ("prompt_tokens", "prompt_tokens", "integer"),
    ("output_tokens", "output_tokens", "integer"),
    ("completion_tokens", "completion_tokens", "integer"),
    ("total_tokens", "total_tokens", "integer"),
)
USAGE_COUNTS = {"input_tokens", "prompt_tokens", "output_tokens", "completion_tokens", "total_tokens"}
DETAILS = (
    ("input_cached_tokens", "input_tokens_details", "cached_tokens"),
    ("prompt_cached_tokens", "prompt_tokens_details", "cached_tokens"),
    ("output_reasoning_tokens", "output_tokens_details", "reasoning_tokens"),
    ("completion_reasoning_tokens", "completion_tokens_details", "reasoning_tokens"),
)
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
        return may_hold(path, {"response", "usage", "call_id", "judge_evaluations"})
    return any(_is_call(call) for fields in first_objects(path) for call in (fields, *_judge_calls(fields)))


def _is_call(fields: Fields) -> bool:
    """Whether a record holds the usage of a call and the model that was called."""
    response = object_items(fields.get("response"))
    usage = object_items(response.get("usage")) or object_items(fields.get("usage"))
    has_model = isinstance(response.get("model"), str) or isinstance(fields.get("model"), str)
    return has_model and not USAGE_COUNTS.isdisjoint(usage)


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
    for number, fields in read_objects(path):
        if isinstance(fields, Unreadable):
            yield quarantine_line(number, fields)
            continue
        seen.add(fields)
        if not any(key in fields for key in ("response", "usage", "call_id")) and not _judge_calls(fields):
            reason = "no `response`, `usage`, `call_id` or `judge_evaluations`; is this a call log?"
            yield quarantine_line(number, reason)
            continue
        for call in _calls(fields):
            rows.add(call | {"line_number": number, "run_in_path": around})
        yield from rows.full_batches()
    yield from rows.last_batches()
    yield from seen.batches()


def _judge_calls(fields: Fields) -> list[Fields]:
    """The nested judge calls of a line: members of judge_evaluations with a `response` key."""
    nested = fields.get("judge_evaluations")
    items = nested if isinstance(nested, ARRAYS) else ()
    return [dict(item.items()) for item in items if isinstance(item, OBJECTS) and "response" in item]


def _calls(fields: Fields) -> Iterator[Fields]:
    nested = _judge_calls(fields)
    if not nested:
        yield _call(fields, {}) | {"judge_idx": None, "row_json": None}
        return
    place = take_columns(dict(fields), PLACE)
    if all(isinstance(item, OBJECTS) and "response" in item for item in fields["judge_evaluations"]):
        del fields["judge_evaluations"]
    for index, item in enumerate(nested):
        row_json = other_json(fields) if index == 0 else None
        yield _call(item, place) | {"judge_idx": index, "row_json": row_json}


def _call(fields: Fields, place: Fields) -> Fields:
    """One call's columns. `place` gives what a nested call does not state itself."""
    response = object_items(fields.get("response"))
    usage = object_items(response.get("usage")) or object_items(fields.get("usage"))
    row = take_columns(fields, OWN)
    row |= {name: place.get(name) if value is None else value for name, value in take_columns(fields, PLACE).items()}
    request = take_columns(fields, (("request_json", "request", "json"),))
    if request["request_json"] is None:
        request = take_columns(fields, (("request_json", "responses_create_params", "json"),))
    row |= request | take_columns(fields, (("response_json", "response", "json"),))
    named = (("response_id", "id", "text"), ("response_model", "model", "text"))
    row |= take_columns(response, named)
    times = (("created_at", "created_at", "time"), ("created", "created", "time"))
    stamps = take_columns(response, times)
    row["response_created_at"] = stamps["created_at"] or stamps["created"]
    row["has_usage"] = bool(usage)
    row |= {column: as_integer(object_items(usage.get(holder)).get(key)) for column, holder, key in DETAILS}
    row |= take_columns(dict(usage), USAGE)
    row["other_json"] = other_json(fields)
    return row
