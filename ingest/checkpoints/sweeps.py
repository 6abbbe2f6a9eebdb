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
from ingest.checkpoints.files import JSON_FILES, read_config
from ingest.checkpoints.manifests import read_manifest
from ingest.checkpoints.places import cell_name, find, is_cell, misplaced, steps
from ingest.formats.json_values import Fields, json_object
from ingest.formats.rows import rows_to_batches
from ingest.formats.values import Unreadable, as_name, checked_time, shown
from ingest.run import Outcome, file_source, ingest

KIND = "checkpoints"


def ingest_checkpoints(home: Home, paths: Iterable[str], org: str | None = None) -> Outcome:
    """Land every cell, bare checkpoint and manifest below `paths`, or on the Hub. `org` is the cells' organisation."""
    found = [p for path in paths for p in _find_places(path)]
    if not found:
        raise SourceError(
            f"{', '.join(paths)}: nothing to ingest; looked for <cell>/checkpoints/<family>/<step>/, folders with a "
            "config.json or weights, and manifest.json or .csv"
        )
    # Forked processes would share the connections that the Hub's client holds.
    workers = 1 if any(isinstance(item, str) for item in found) else None
    return ingest(home, KIND, dict.fromkeys(found), partial(identify, org=org), partial(read, org=org), workers)


def _find_places(path: str) -> list[Path | str]:
    """The places a path on the command line stands for: on the Hub, or what `find` finds on disk."""
    if path.startswith(hub.PREFIX) and not Path(path).exists():
        return [*hub.find(path)]
    return [found for match in expand_path(path) for found in find(match)]


def expand_path(path: str) -> list[Path]:
    """The path, or what it matches as a glob. Raises SourceError where there is nothing."""
    import glob

    matches = [Path(path)] if Path(path).exists() else [Path(p) for p in sorted(glob.glob(path, recursive=True))]
    if not matches:
        raise SourceError(f"{path}: no such file or folder; check the path")
    return matches


def identify(path: Path | str, org: str | None) -> Source:
    """The source at `path`, or at a place on the Hub.

    A cell is known by its name and run.json, so that a moved sweep replaces itself.
    """
    if isinstance(path, str):
        return hub.identify(path, KIND)
    if path.is_file():
        return file_source(KIND, path)
    digest = hashlib.sha256(f"{org}:{path.parent.name}".encode())
    size = 0
    for base, folders, files in os.walk(path):
        folders.sort()
        for name in sorted(files):
            stat = os.stat(os.path.join(base, name), follow_symlinks=False)
            digest.update(
                f"{os.path.relpath(base, path)}/{name}:{stat.st_size}:{stat.st_mtime_ns}:{stat.st_ctime_ns}".encode()
            )
            size += stat.st_size
    run = path / "run.json"
    known_by = run.read_bytes() if run.is_file() else str(path).encode()
    identity = hashlib.sha256(cell_name(path).encode() + known_by).hexdigest()
    return Source(KIND, f"{file_stem(path.name)}-{short_digest(KIND + identity)}", str(path), digest.hexdigest(), size)


def read(source: Source, org: str | None) -> Batches:
    """Rows of one cell, bare checkpoint folder or manifest, or of one place on the Hub."""
    path = Path(source.path)
    if source.path.startswith(hub.PREFIX):
        yield from hub.read(source)
    elif path.is_file():
        yield from read_manifest(path)
    elif is_cell(path):
        yield from _read_cell(path, org or path.parent.name)
    else:
        row = {"source_kind": "folder", "model_id": path.name, "folder_path": str(path)}
        yield from _read_folders([(row, path)], path)


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
    yield from _read_folders(
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
    for name in misplaced(folder):
        yield quarantine(
            f"line 1 of checkpoints/{name}", "a checkpoint without a step: not checkpoints/<family>/<step>/"
        )


def _named_step(submission: dict[str, Any], name: str, problems: list[tuple[str, str]]) -> str | None:
    value = submission.get(name)
    if value is not None and not isinstance(value, str):
        problems.append(("line 1 of submission.json", f"{name} {shown(value)} is not a <family>/<step>"))
        return None
    return as_name(value)


def _read_folders(folders: Iterable[tuple[dict[str, Any], Path]], root: Path) -> Batches:
    """Rows for checkpoint folders, each a row of checkpoint_folders so far as it is known and its path."""
    empty = dict.fromkeys(("org", "cell", "family", "step_name", "model_id", "repo", "branch"))
    rows: dict[str, list] = {"checkpoint_folders": [], "checkpoint_files": [], "checkpoint_configs": []}
    for idx, (known, path) in enumerate(folders):
        rows["checkpoint_folders"].append(empty | known | {"folder_idx": idx})
        for base, inner, files in os.walk(path):
            inner.sort()
            for name in sorted(files):
                stat = os.stat(os.path.join(base, name), follow_symlinks=False)
                below = os.path.relpath(os.path.join(base, name), path)
                rows["checkpoint_files"].append(
                    {
                        "folder_idx": idx,
                        "file_name": os.fsencode(below).decode("utf-8", "replace"),
                        "size_bytes": stat.st_size,
                        "modified_at": stat.st_mtime_ns // 1000,
                    }
                )
        for name in JSON_FILES:
            try:
                raw = (path / name).read_bytes()
            except (FileNotFoundError, IsADirectoryError, NotADirectoryError):
                continue
            row, problem = read_config(idx, name, os.path.relpath(path / name, root), raw)
            rows["checkpoint_configs"].append(row)
            if problem:
                yield quarantine(*problem)
        if len(rows["checkpoint_files"]) > 50_000:
            yield from rows_to_batches(rows)
            rows = {name: [] for name in rows}
    yield from rows_to_batches(rows)


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
