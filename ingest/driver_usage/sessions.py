"""Reader of agent session logs: what each said it had spent, and when. The forms of a report are in reports.py."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from homes.landing import Batches, Source, quarantine
from homes.names import file_stem, short_digest
from homes.paths import Home
from ingest.checkpoints.places import cell_name, is_cell
from ingest.driver_usage.reports import Session, token_report
from ingest.formats.heads import may_hold
from ingest.formats.json_values import json_object, parse_json
from ingest.formats.lines import LONGEST_TEXT_MIB, text_lines
from ingest.formats.rows import quarantine_line, rows_to_batches
from ingest.formats.values import Unreadable
from ingest.run import Outcome, expand, file_digest, ingest

KIND = "driver-usage"
_SUFFIXES = (".jsonl", ".json")
"""`claude -p --output-format json` prints one JSON text, which may be a list of records or be broken into lines."""
_TELLTALES = (b"token_count", b"session_meta", b"thread.started", b"input_tokens", b"output_tokens")
_SESSION_KEYS = {"type", "payload", "message", "timestamp", "sessionId", "session_id", "thread_id"}
"""What a session says in lines that report no tokens."""
_BATCH = 100_000


def ingest_driver_usage(home: Home, paths: Iterable[str]) -> Outcome:
    """Land every session log below `paths`; a file given by name is taken as one."""
    return ingest(home, KIND, expand(paths, "<cell>/driver/*.jsonl or *.json", is_session_log), identify, read)


def is_session_log(path: Path) -> bool:
    """Whether a file lies where agent session logs do, `<cell>/driver/**/*.jsonl` or `.json`, in a cell or reporting
    tokens."""
    folder = _driver_folder(path)
    if path.suffix not in _SUFFIXES or folder is None:
        return False
    if path.suffix == ".jsonl" and is_cell(folder.parent) and may_hold(path, _SESSION_KEYS):
        return True
    return any(_has_telltale(raw) for _, raw in text_lines(path))


def identify(path: Path) -> Source:
    """The session log at `path`: known by its cell, name and first line, so that a copy or a longer one replaces it.

    The first line of a JSON text may be a brace alone: such a file is known by its place in `driver/`.
    """
    folder = _driver_folder(path)
    cell = cell_name(folder.parent) if folder else path.parent.name
    first = next((raw for _, raw in text_lines(path)), b"")
    if path.suffix == ".json" and folder:
        first = str(path.relative_to(folder)).encode("utf-8", "surrogateescape")
    name = f"{file_stem(cell)}-{file_stem(path.stem)}-{short_digest(f'{KIND}:{cell}:{path.name}:{first!r}')}"
    return Source(KIND, name, str(path), file_digest(path), path.stat().st_size)


def _driver_folder(path: Path) -> Path | None:
    return next((parent for parent in path.parents if parent.name == "driver"), None)


def read(source: Source) -> Batches:
    """Rows of driver_usage; a line that can't be read is quarantined, a line that reports no tokens is passed over."""
    path = Path(source.path)
    folder = _driver_folder(path)
    cell = cell_name(folder.parent) if folder else path.parent.name
    rows: list[dict[str, Any]] = []
    session = Session()
    has_report = False
    for number, record in _records(path):
        try:
            row = None if isinstance(record, Unreadable) else token_report(record, session)
            problem = record if isinstance(record, Unreadable) else None
        except Unreadable as error:
            row, problem = None, error
        if problem:
            yield quarantine_line(number, problem)
        elif row:
            rows.append({"cell": cell, "line_number": number} | row)
            has_report = True
        if len(rows) >= _BATCH:
            yield from rows_to_batches({"driver_usage": rows})
            rows = []
    yield from rows_to_batches({"driver_usage": rows})
    if not has_report:
        yield quarantine("byte 0", "no token report in a known format (Codex CLI, Claude Code, plain)")


def _records(path: Path) -> Iterator[tuple[int, dict[str, Any] | Unreadable]]:
    """(line or member from 1, its record) of what may report tokens; Unreadable says why a line can't be read."""
    if path.suffix == ".json" and (members := _whole(path)) is not None:
        yield from enumerate(members, 1)
        return
    for line, raw in text_lines(path):
        if isinstance(raw, Unreadable):
            yield line.number, raw
        elif _has_telltale(raw):
            try:
                yield line.number, _object(raw)
            except Unreadable as problem:
                yield line.number, problem
        elif not raw.endswith(b"}"):
            yield line.number, Unreadable("cut or not a JSON object")


def _whole(path: Path) -> list[dict[str, Any]] | None:
    """The records of a file that is one JSON text; None where it is larger than a line may be, or JSON lines."""
    if path.stat().st_size > LONGEST_TEXT_MIB << 20:
        return None
    try:
        value = parse_json(path.read_bytes())
    except Unreadable:
        return None
    return [member for member in (value if isinstance(value, list) else [value]) if isinstance(member, dict)]


def _has_telltale(raw: bytes | Unreadable) -> bool:
    return isinstance(raw, bytes) and any(mark in raw for mark in _TELLTALES)


def _object(raw: bytes) -> dict[str, Any]:
    try:
        return json_object(raw)
    except Unreadable as problem:
        raise Unreadable(f"cut or not a JSON object ({problem})") from problem
