"""The runs of a simulated campaign, as a W&B server would hold them."""

import json
import math
from datetime import UTC, datetime
from pathlib import Path

from tests.python.support.wandb.records import items, kind_of, records
from tests.python.support.wandb.server import ServedRun


def served(folder: Path) -> list[ServedRun]:
    """The runs of a simulated campaign's `.wandb` logs, and of exports with a run.json, as a server would hold them."""
    runs: dict[str, ServedRun] = {}
    starts: dict[str, str] = {}
    found = [path for path in sorted(folder.glob("*/*.wandb")) if not path.parent.is_symlink()]
    logs = [(start, path) for path in found if (start := _started_at(path))]
    for start, path in sorted(logs):
        run = None
        for record in records(path):
            kind = kind_of(record)
            if kind == "run":
                run = runs.setdefault(record.run.run_id, ServedRun(record.run.run_id))
                starts.setdefault(run.run_id, start)
                run.created_at = starts[run.run_id]
                run.display_name, run.group, run.state = record.run.display_name, record.run.run_group, "crashed"
                run.config |= {item.key: json.loads(item.value_json) for item in record.run.config.update}
            elif kind == "history":
                row = _nested(dict(items(record)))
                run.rows.append(row | {"_step": len(run.rows)})
            elif kind == "stats":
                at = record.stats.timestamp.seconds + record.stats.timestamp.nanos / 1e9
                sample = {f"system.{key[0]}": json.loads(text) for key, text in items(record)}
                run.system.append(sample | {"_timestamp": at, "_runtime": 1.0, "_wandb": True})
            elif kind == "exit":
                run.state = "finished" if record.exit.exit_code == 0 else "failed"
    for note in sorted(folder.glob("exports/*/run.json")):
        told = json.loads(note.read_text())
        created = datetime.fromtimestamp(told["created_at"], UTC).isoformat().replace("+00:00", "Z")
        lines = (note.parent / "history.jsonl").read_text().splitlines()
        rows = [_named(json.loads(line)) for line in lines]
        runs[told["id"]] = ServedRun(
            told["id"], told["name"], told["group"], told["state"], told["config"], created_at=created, rows=rows
        )
    return list(runs.values())


def _started_at(path: Path) -> str:
    for record in records(path):
        if kind_of(record) == "run":
            stamp = record.run.start_time
            moment = datetime.fromtimestamp(stamp.seconds, UTC).replace(microsecond=stamp.nanos // 1000)
            return moment.isoformat().replace("+00:00", "Z")
    return ""


def _nested(values: dict[tuple[str, ...], str]) -> dict:
    """A row as the API's JSON: nested keys as objects, numbers that JSON lacks as strings."""
    row: dict = {}
    for path, text in values.items():
        node = row
        for key in path[:-1]:
            node = node.setdefault(key, {})
        node[path[-1]] = _named(json.loads(text))
    return row


def _named(value: object) -> object:
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, list):
        return [_named(item) for item in value]
    if isinstance(value, dict):
        return {key: _named(item) for key, item in value.items()}
    return value
