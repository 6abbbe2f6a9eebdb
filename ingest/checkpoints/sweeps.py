"""Reader of sweeps, bare checkpoint folders, published manifests and the Hub. Layouts: see places.py."""

import hashlib
import os
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any

from homes.errors import SourceError
from homes.landing import Batches, Source, quarantine
from homes.names import file_stem, short_digest
from homes.paths import Home
from ingest.checkpoints import hub
from ingest.checkpoints.companions import companion_rows
from ingest.checkpoints.folders import all_files, read_folders
from ingest.checkpoints.listed import is_list, read_list
from ingest.checkpoints.manifests import read_manifest
from ingest.checkpoints.names import family_and_step
from ingest.checkpoints.places import cell_name, find, is_cell, is_companion, own_files, steps
from ingest.formats.json_values import Fields, json_object
from ingest.formats.rows import rows_to_batches
from ingest.formats.values import Unreadable, as_name, checked_time, shown
from ingest.run import Outcome, file_source, ingest

KIND = "checkpoints"


def ingest_checkpoints(home: Home, paths: Iterable[str], org: str | None = None) -> Outcome:
    """Land every cell, bare checkpoint, companion, manifest and list below `paths`, or on the Hub. `org` is the cells'
    organisation. The id of a bare checkpoint is its path below what was given; `/./` in a path marks another place
    where ids begin."""
    found, roots = [], []
    for path in paths:
        places, given = _find_places(path)
        found += places
        roots += given
    if not found:
        raise SourceError(
            f"{', '.join(paths)}: nothing to ingest; looked for <cell>/checkpoints/<family>/<step>/, folders with a "
            "config.json or weights, and manifest.json or .csv"
        )
    # Forked processes would share the connections that the Hub's client holds.
    workers = 1 if any(isinstance(item, str) for item in found) else None
    roots_given = tuple(dict.fromkeys(roots))
    return ingest(
        home,
        KIND,
        dict.fromkeys(found),
        partial(identify, org=org, roots=roots_given),
        partial(read, org=org, roots=roots_given),
        workers,
    )


def _find_places(path: str) -> tuple[list[Path | str], list[Path]]:
    """(the places that a path on the command line stands for: on the Hub, or what `find` finds on disk; where ids of
    those begin)."""
    if path.startswith(hub.PREFIX) and not Path(path).exists():
        return [*hub.find(path)], []
    matches = expand_path(path)
    start, mark, _ = path.partition("/./")
    roots = [Path(start)] if mark else matches
    return [found for match in matches for found in find(match)], [root.resolve() for root in roots]


def model_id_of(path: Path, roots: tuple[Path, ...]) -> str:
    """The id of a bare checkpoint: its path below the first root that holds it, or its name."""
    root = next((root for root in roots if root in path.parents), path.parent)
    return path.relative_to(root).as_posix()


def expand_path(path: str) -> list[Path]:
    """The path, or what it matches as a glob. Raises SourceError where there is nothing."""
    import glob

    matches = [Path(path)] if Path(path).exists() else [Path(p) for p in sorted(glob.glob(path, recursive=True))]
    if not matches:
        raise SourceError(f"{path}: no such file or folder; check the path")
    return matches


def identify(path: Path | str, org: str | None, roots: tuple[Path, ...]) -> Source:
    """The source at `path`, or at a place on the Hub.

    A cell is known by its name and run.json, so that a moved sweep replaces itself.
    """
    if isinstance(path, str):
        return hub.identify(path, KIND)
    if path.is_file():
        return file_source(KIND, path)
    is_of_cell = is_companion(path), is_cell(path)
    stated = path.parent.name if any(is_of_cell) else model_id_of(path, roots)
    digest = hashlib.sha256(f"{org}:{stated}".encode("utf-8", "surrogateescape"))
    size = 0
    for name, stat in all_files(path) if any(is_of_cell) else own_files(path):
        digest.update(f"{name}:{stat.st_size}:{stat.st_mtime_ns}:{stat.st_ctime_ns}".encode("utf-8", "surrogateescape"))
        size += stat.st_size
    run = path / "run.json"
    known_by = run.read_bytes() if is_of_cell == (False, True) and run.is_file() else os.fsencode(path)
    identity = hashlib.sha256(cell_name(path).encode() + known_by).hexdigest()
    return Source(KIND, f"{file_stem(path.name)}-{short_digest(KIND + identity)}", str(path), digest.hexdigest(), size)


def read(source: Source, org: str | None, roots: tuple[Path, ...]) -> Batches:
    """Rows of one cell, bare checkpoint folder, companion, manifest or list, or of one place on the Hub."""
    path = Path(source.path)
    if source.path.startswith(hub.PREFIX):
        yield from hub.read(source)
    elif path.is_file():
        yield from read_list(path) if is_list(path) else read_manifest(path)
    elif is_companion(path):
        contents = ((name, stat.st_size) for name, stat in all_files(path))
        yield from rows_to_batches(companion_rows(f"{org or path.parent.name}/{path.name}", contents))
    elif is_cell(path):
        yield from _read_cell(path, org or path.parent.name)
    else:
        model_id = model_id_of(path, roots)
        family, step = family_and_step(model_id, path.parent.name)
        row = {"source_kind": "folder", "model_id": model_id, "folder_path": str(path)}
        yield from read_folders([(row | {"family": family, "step_name": step}, path)], path)


def _read_cell(folder: Path, org: str) -> Batches:
    cell = cell_name(folder)
    run: Fields = {}
    submission: Fields = {}
    problems: list[tuple[str, str]] = []
    for name, into in (("run.json", run), ("submission.json", submission)):
        if (folder / name).is_file():
            try:
                into |= json_object((folder / name).read_bytes()) | {"": True}
            except Unreadable as problem:
                problems.append((f"line {problem.line} of {name}", problem.cause))
    row = {"cell": cell, "org": org, "has_run_json": bool(run), "has_submission": bool(submission)}
    row |= {name: as_name(run.get(name)) for name in ("driver", "effort")}
    row |= {name: _named_step(submission, name, problems) for name in ("submitted", "fallback")}
    for name in ("started_at", "ended_at"):
        try:
            row[name] = checked_time(run.get(name), name)
        except Unreadable as problem:
            row[name] = None
            problems.append(("line 1 of run.json", str(problem)))
    yield from rows_to_batches({"checkpoint_cells": [row]})
    yield from (quarantine(*problem) for problem in problems)
    yield from _read_janitor(folder / "ckpt-janitor.log")
    yield from read_folders(
        (
            (
                {
                    "source_kind": "sweep",
                    "org": org,
                    "cell": cell,
                    "family": family,
                    "step_name": step,
                    "folder_path": str(path),
                },
                path,
            )
            for family, step, path in steps(folder)
        ),
        folder,
    )


def _named_step(submission: dict[str, Any], name: str, problems: list[tuple[str, str]]) -> str | None:
    value = submission.get(name)
    if value is not None and not isinstance(value, str):
        problems.append(("line 1 of submission.json", f"{name} {shown(value)} is not a <family>/<step>"))
        return None
    return as_name(value)


def _read_janitor(log: Path) -> Batches:
    """Rows of a janitor log: `<ISO time> <action> <family>/<step>`, apart by blanks or commas."""
    if not log.is_file():
        return
    rows = []
    for number, line in enumerate(log.read_bytes().decode("utf-8", "replace").splitlines(), 1):
        parts = line.replace(",", " ").split()
        if not parts:
            continue
        try:
            if len(parts) < 3:
                raise Unreadable("not `<time> <action> <family>/<step>`")
            moment = checked_time(parts[0], "time")
            family, slash, step = parts[2].rstrip("/").rpartition("/")
            if not slash or not family or not step:
                raise Unreadable(f"{shown(parts[2])} is not a <family>/<step>")
        except Unreadable as problem:
            yield quarantine(f"line {number} of {log.name}", str(problem))
            continue
        rows.append(
            {
                "line_number": number,
                "logged_at": moment,
                "action": parts[1].lower(),
                "family": family,
                "step_name": step,
            }
        )
    yield from rows_to_batches({"checkpoint_archives": rows})
