"""Reader of verl FileLogger files: `verl_metrics/<project>/<experiment>.jsonl`, a line {"step": N, "data": {...}}."""

from functools import partial
from pathlib import Path

from homes.errors import SourceError
from homes.landing import Batches, Source
from homes.paths import Home
from ingest.formats.jsonl import (
    CONVERT,
    OBJECTS,
    Observed,
    Rows,
    json_text,
    kind_of,
    objects,
    rest_json,
    take,
    unreadable,
)
from ingest.run import Outcome, expand, file_source, ingest

KIND = "native-metrics"
FOLDER = "verl_metrics"


def ingest_native_metrics(home: Home, paths: list[str], run_id: str | None = None) -> Outcome:
    """Land verl FileLogger files; `run_id` names the run of all of them."""
    try:
        files = expand(paths, f"{FOLDER}/<project>/*.jsonl", matches)
    except SourceError:
        files = expand(paths, "*.jsonl", lambda path: path.suffix == ".jsonl")
    return ingest(home, KIND, files, partial(identify, run_id), partial(read, run_id))


def matches(path: Path) -> bool:
    """Whether a file found in a tree belongs to this reader."""
    return path.suffix == ".jsonl" and FOLDER in path.parts[:-1]


def identify(run_id: str | None, path: Path) -> Source:
    """The source of a file; naming its run makes another content of it."""
    return file_source(KIND, path, run_id or "")


def read(run_id: str | None, source: Source) -> Batches:
    """One row per line and one per metric of it."""
    path = Path(source.path)
    experiment, _, segment = path.name.removesuffix(".jsonl").partition(".before_")
    around = next((p.parent.name for p in path.parents if p.name == FOLDER), None)
    file = Rows("native_files")
    file.add(
        {
            "run_id": run_id or around or experiment,
            "project": path.parent.name,
            "experiment": experiment,
            "segment_name": segment or None,
            "file_name": path.name,
        }
    )
    yield from file.rest()
    rows, values, seen = Rows("native_rows"), Rows("native_values"), Observed("native_metrics")
    for number, fields in objects(path):
        if isinstance(fields, str):
            yield unreadable(number, fields)
            continue
        step, data = CONVERT["integer"](fields.get("step")), fields.get("data")
        if step is None or not isinstance(data, OBJECTS):
            yield unreadable(number, "no whole number `step` and object `data`; is this a verl FileLogger file?")
            continue
        metrics = dict(data.items())
        seen.see(metrics)
        for metric, value in metrics.items():
            is_text = kind_of(value) not in ("null", "integer", "number")
            text = json_text(value) if is_text else None
            number_value = CONVERT["number"](value)
            values.add({"line_number": number, "metric": metric, "value": number_value, "value_text": text})
        row = {"line_number": number, "metric_count": len(metrics)} | take(fields, (("step", "step", "integer"),))
        fields.pop("data")
        rows.add(row | {"other_json": rest_json(fields)})
        del data, metrics
        yield from rows.full()
        yield from values.full()
    yield from rows.rest()
    yield from values.rest()
    yield from seen.rest()
