"""`run.json` of an exported run: which run it is and what is known of it, in the words of the client or of the API."""

from pathlib import Path
from typing import Any, NamedTuple

from ingest.formats.json_values import json_object
from ingest.formats.values import Unreadable, as_text


class RunJson(NamedTuple):
    """The fields of a run.json (none where there is no such file), the run's id, and why it can't be read."""

    fields: dict[str, Any]
    run_id: str | None
    fault: str | None


def read_run_json(folder: Path) -> RunJson:
    """What the run.json in a folder says."""
    fields, fault = read_json_object(folder / "run.json")
    is_api = "displayName" in fields and fields.get("name")  # there `id` is the API's own, `name` the run's
    return RunJson(fields, text_of(fields.get("run_id") or fields.get("name" if is_api else "id")), fault)


def read_json_object(path: Path) -> tuple[dict[str, Any], str | None]:
    """The JSON object in a file, and why it can't be read; empty without a reason where there is no file."""
    if not path.is_file():
        return {}, None
    try:
        return json_object(path.read_bytes()), None
    except Unreadable as problem:
        return {}, f"{path.name} is {problem}"


def text_of(value: object) -> str | None:
    """A text or whole number, or the `name` of an object, as text; null for anything else and for the empty text."""
    return as_text(value.get("name") if isinstance(value, dict) else value) or None
