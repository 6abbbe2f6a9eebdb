"""Reader of what a run in rounds leaves: candidates, held-out attempts, scheduler events, saved steps, W&B exports."""

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from homes.candidates import TOKEN_ARRAYS
from homes.landing import Batches, Source
from homes.names import storable
from homes.paths import Home
from ingest.formats.heads import head, is_blank, keys_in, may_hold
from ingest.formats.json_lines import read_objects, read_objects_and_lines, take_columns
from ingest.formats.json_values import Fields, object_items, other_json, parse_json
from ingest.formats.rows import FieldCounts, Rows, quarantine_line
from ingest.formats.values import Unreadable, as_number, as_time, path_number
from ingest.rounds.run_folders import (
    folder_source,
    holds_tracker_export,
    is_tracker_file,
    read_saved_step,
    read_tracker_export,
    saved_step_of,
)
from ingest.run import Outcome, expand, file_source, ingest

KIND = "rounds"

_ROUND = re.compile(r"round_(\d+)(?:\.attempt(\d+))?$")
_EVALUATION = re.compile(r"eval_(.+)\.json$")
_TIMES = ("created_at", "generated_at", "recorded_at", "timestamp", "exec_started_at")

CANDIDATE = (
    ("run_id", "run_id", "text"),
    ("step", "step", "integer"),
    ("round", "round", "integer"),
    ("global_step", "global_step", "integer"),
    ("task", "task", "text"),
    ("chain", "chain", "text"),
    ("unit", "unit", "text"),
    ("group_id", "group_id", "text"),
    ("sibling_index", "sibling_index", "integer"),
    ("is_behavior", "is_behavior", "boolean"),
    ("behavior_index", "behavior_index", "integer"),
    ("behavior_action", "behavior_action", "text"),
    ("prompt_sha256", "prompt_sha256", "text"),
    ("code_sha256", "code_sha256", "text"),
    ("response_text", "response_text", "text"),
    ("is_valid", "valid", "boolean"),
    ("is_better_than_anchor", "better_than_anchor_before", "boolean"),
    ("debug_streak", "debug_streak", "integer"),
    ("ropd_q", "ropd_q", "number"),
    ("group_mean_q", "group_mean_q", "number"),
    ("reward", "reward", "number"),
    ("reward_rule", "reward_rule", "text"),
    ("penalty_json", "penalty", "json"),
    ("grpo_reward_mean", "grpo_reward_mean", "number"),
    ("advantage", "advantage", "number"),
    ("teacher_calls", "teacher_calls", "integer"),
    ("cost_usd", "cost_usd", "number"),
)
ATTEMPT = (
    ("run_id", "run_id", "text"),
    ("policy", "policy", "text"),
    ("task", "task", "text"),
    ("chain", "chain", "text"),
    ("attempt", "attempt", "integer"),
    ("is_valid", "valid", "boolean"),
    ("score", "score", "number"),
    ("outcome", "outcome", "text"),
)
EVENT = (
    ("run_id", "run_id", "text"),
    ("occurred_at", "time", "time"),
    ("capacity_before", "capacity_before", "number"),
    ("capacity_after", "capacity_after", "number"),
    ("active_jobs", "active_jobs", "number"),
    ("waiting", "waiting", "number"),
    ("mem_frac_max", "mem_frac_max", "number"),
    ("load1", "load1", "number"),
    ("reason", "reason", "text"),
)
SCHEDULER_KEYS = {"capacity_before", "capacity_after", "active_jobs", "mem_frac_max"}
"""What only a scheduler's events say."""

RESULT = (("outcome", "outcome", "text"), ("score", "score", "number"))


def ingest_rounds(home: Home, paths: list[str], token_arrays: bool = False) -> Outcome:
    """Land the rounds, evaluations, scheduler events, saved steps and W&B exports found in `paths`."""
    files = expand(paths, "round_<N>/siblings.jsonl, eval_*.json, scheduler*.jsonl, saved steps", matches)
    sources = dict.fromkeys(_source_path(file) for file in files)
    return ingest(home, KIND, sources, partial(identify, token_arrays), partial(read, token_arrays))


def matches(path: Path) -> bool:
    """Whether a file found in a tree belongs to this reader: by its name or place, and by what it starts with."""
    if path.name == "siblings.jsonl":
        return may_hold(path, {key for _, key, _ in CANDIDATE}, at_least=2)
    if _EVALUATION.match(path.name):
        return _may_hold_attempts(path)
    if path.name.startswith("scheduler") and path.suffix == ".jsonl":
        return may_hold(path, SCHEDULER_KEYS)
    return saved_step_of(path) is not None or (is_tracker_file(path) and holds_tracker_export(path))


def _may_hold_attempts(path: Path) -> bool:
    start = head(path)
    found = keys_in(start)
    is_list = start.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"[")
    return is_blank(start) or (is_list and "task" in found and not found.isdisjoint(("policy", "attempt", "valid")))


def _source_path(file: Path) -> Path:
    """What is landed as one source: the folder of a saved step or of a W&B export, else the file."""
    return saved_step_of(file) or (file.parent if is_tracker_file(file) else file)


def identify(has_token_arrays: bool, path: Path) -> Source:
    """The source of a file or folder; asking for token arrays makes another content of it."""
    note = "token arrays" if has_token_arrays and path.name == "siblings.jsonl" else ""
    return folder_source(KIND, path) if path.is_dir() else file_source(KIND, path, note)


def read(has_token_arrays: bool, source: Source) -> Batches:
    """Rows of one source, by what its name says it is; a file of another name is read as candidates."""
    path = Path(source.path)
    if path.is_dir():
        return read_saved_step(path) if path.parent.name == "checkpoints" else read_tracker_export(path)
    if evaluation := _EVALUATION.match(path.name):
        return _read_evaluation(path, evaluation[1])
    if path.name.startswith("scheduler"):
        return _read_scheduler(path)
    return _read_candidates(path, has_token_arrays)


def _read_candidates(path: Path, has_token_arrays: bool) -> Batches:
    found = _ROUND.match(path.parent.name)
    digits = found.groups() if found else (None, None)
    numbers = [path_number(text) if text else None for text in digits]
    if numbers.count(None) > digits.count(None):
        yield quarantine_line(1, f"{path.parent.name}: a round or attempt of more than 64 bits")
    row = {
        "run_in_path": path.parent.parent.name if found else None,
        "round_in_path": numbers[0],
        "attempt_in_path": numbers[1],
        "modified_at": as_time(path.stat().st_mtime),
        "has_token_arrays": has_token_arrays,
    }
    file = Rows("rounds_files")
    file.add(row)
    yield from file.last_batches()
    seen = FieldCounts("candidates")
    candidates, costs = Rows("rounds_candidates"), Rows("rounds_candidate_costs")
    for number, fields, raw in read_objects_and_lines(path):
        if isinstance(fields, Unreadable):
            yield quarantine_line(number, fields)
            continue
        if problem := _missing_name(fields):
            yield quarantine_line(number, problem)
            continue
        seen.add(fields)
        for key in [k for k in fields if k == "result" or "policy" in k]:
            seen.add(object_items(fields[key]), f"{key}.")
        for cost in _costs(fields, number):
            costs.add(cost)
        line = raw.decode("utf-8", "replace") if has_token_arrays else _reduced(fields, raw)
        candidates.add(_candidate(fields, number) | {"line_json": line})
        yield from candidates.full_batches()
        yield from costs.full_batches()
    yield from candidates.last_batches()
    yield from costs.last_batches()
    yield from seen.batches()


def _missing_name(fields: Fields) -> str | None:
    """Which half of its name a candidate lacks; null where it has both."""
    for key in ("group_id", "sibling_index"):
        value = fields.get(key)
        if not isinstance(value, (str, int)) or isinstance(value, bool) or value == "":
            return f"a candidate without {key}"
    return None


def _candidate(fields: Fields, number: int) -> Fields:
    result, parent = object_items(fields.get("result")), object_items(fields.get("parent_result"))
    recorded = (take_columns(dict(fields), (("at", key, "time"),))["at"] for key in _TIMES)
    row = {"line_number": number, "recorded_at": next((at for at in recorded if at), None)}
    row |= take_columns(dict(fields), CANDIDATE) | take_columns(result, RESULT)
    return row | {f"parent_{name}": value for name, value in take_columns(parent, RESULT).items()}


def _reduced(fields: Fields, raw: bytes) -> str:
    """A candidate's line without its token arrays; the line itself where it has none."""
    kept = {key: value for key, value in fields.items() if key not in TOKEN_ARRAYS}
    return raw.decode("utf-8", "replace") if len(kept) == len(fields) else other_json(kept) or "{}"


def _costs(fields: Fields, number: int) -> Iterator[Fields]:
    for role, cost in object_items(fields.get("cost_by_role")).items():
        yield {"line_number": number, "role": storable(role), "cost_usd": as_number(cost)}


def _read_evaluation(path: Path, policy: str) -> Batches:
    try:
        entries = parse_json(path.read_bytes())
    except Unreadable as problem:
        yield quarantine_line(problem.line, problem)
        return
    if not isinstance(entries, list):
        yield quarantine_line(1, "not a JSON list of attempts")
        return
    rows, seen = Rows("rounds_evaluation_attempts"), FieldCounts("evaluation_attempts")
    for number, entry in enumerate(entries, 1):
        if not isinstance(entry, dict):
            yield quarantine_line(1, f"entry {number} of the list is not a JSON object")
            continue
        seen.add(entry)
        row = {"entry_number": number, "run_in_path": _run_name(path)} | take_columns(entry, ATTEMPT)
        row["policy"] = row["policy"] or policy
        rows.add(row | {"other_json": other_json(entry)})
    yield from rows.last_batches()
    yield from seen.batches()


def _read_scheduler(path: Path) -> Batches:
    rows, seen = Rows("rounds_scheduler_events"), FieldCounts("scheduler_events")
    for number, fields in read_objects(path):
        if isinstance(fields, Unreadable):
            yield quarantine_line(number, fields)
            continue
        seen.add(fields)
        row = {"line_number": number, "run_in_path": _run_name(path)} | take_columns(fields, EVENT)
        rows.add(row | {"other_json": other_json(fields)})
        yield from rows.full_batches()
    yield from rows.last_batches()
    yield from seen.batches()


def _run_name(path: Path) -> str:
    """The folder a file belongs to: its own, or the one around `logs/`, `stages/` or `eval/`."""
    folder = path.resolve().parent
    return folder.parent.name if folder.name in ("logs", "stages", "eval") else folder.name
