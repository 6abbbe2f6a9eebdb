"""Where checkpoints lie: cells of a sweep, bare checkpoint folders, published manifests. Layouts: see `find`."""

import os
import re
from collections.abc import Iterator
from pathlib import Path

from ingest.checkpoints.files import is_checkpoint_file
from ingest.checkpoints.manifests import is_manifest
from ingest.formats.heads import head
from ingest.formats.json_values import json_object
from ingest.formats.values import Unreadable, as_name

_MODEL_MARKS = (b'"model_type"', b'"architectures"', b'"_name_or_path"', b'"eos_token_id"')
CELL_FILES = ("run.json", "submission.json", "ckpt-janitor.log")
"""What a cell says of itself, beside its checkpoints/ and driver/."""
_SAVED_STEP = re.compile(r"global_step_\d+")
"""Folders of a trainer's own saved steps, which lie in a checkpoints/ too: the rounds reader's."""
_STARTS_WITH_DAY = re.compile(r"\d{4}-\d\d-\d\d")


def find(path: Path) -> list[Path]:
    """Cells (a folder with run.json or checkpoints/<family>/<step>/), bare checkpoints and manifests in a tree."""
    path = path.resolve()
    if path.is_file():
        return [path] if is_manifest(path) else []
    found: list[Path] = []
    for base, folders, files in os.walk(path):
        if is_cell(Path(base)) or _is_checkpoint(Path(base), files):
            found.append(Path(base))
            folders.clear()
            continue
        folders[:] = sorted(name for name in folders if not name.startswith(".") and not _SAVED_STEP.fullmatch(name))
        found += [Path(base, name) for name in sorted(files) if is_manifest(Path(base, name))]
    return found


def is_part(place: Path, file: Path) -> bool:
    """Whether a file below a place is read with it: of a cell its checkpoints/ and what it says of itself, else all."""
    return file.relative_to(place).parts[0] in (*CELL_FILES, "checkpoints") or not is_cell(place)


def _is_checkpoint(folder: Path, files: list[str]) -> bool:
    """Whether files make a folder a checkpoint; a lone config.json only where it configures a model."""
    telling = [name for name in files if is_checkpoint_file(name)]
    if telling != ["config.json"]:
        return bool(telling)
    return any(mark in (folder / "config.json").read_bytes() for mark in _MODEL_MARKS)


def is_cell(folder: Path) -> bool:
    """Whether a folder is one cell of a sweep: by what its files say, or by checkpoints/<family>/<step>/ in it."""
    if _is_janitor_log(folder / "ckpt-janitor.log") or _has_key(folder / "run.json", ("cell", "driver")):
        return True
    if _has_key(folder / "submission.json", ("submitted",)):
        return True
    has_run = (folder / "run.json").is_file()
    return any(has_run or any(map(is_checkpoint_file, os.listdir(path))) for _, _, path in steps(folder))


def _is_janitor_log(path: Path) -> bool:
    """Whether a file is a log of archived steps: one of its first lines starts with a day, or it is empty."""
    if not path.is_file():
        return False
    lines = head(path).decode("utf-8", "replace").split("\n")[:20]
    return not any(map(str.strip, lines)) or any(_STARTS_WITH_DAY.match(line.strip()) for line in lines)


def _has_key(path: Path, names: tuple[str, ...]) -> bool:
    """Whether a file is a JSON object with one of these keys."""
    try:
        return not json_object(path.read_bytes()).keys().isdisjoint(names)
    except (OSError, Unreadable):
        return False


def cell_name(folder: Path) -> str:
    """What run.json calls the cell, else the folder's name."""
    try:
        stated = as_name(json_object((folder / "run.json").read_bytes()).get("cell"))
    except (OSError, Unreadable):
        stated = None
    return stated if stated and "/" not in stated else folder.name


def steps(folder: Path) -> Iterator[tuple[str, str, Path]]:
    """(family, step, path) of each checkpoint folder; a link to another step of the cell is not one of its own."""
    inside = os.path.realpath(folder / "checkpoints") + os.sep
    for family in _families(folder):
        with os.scandir(family.path) as entries:
            steps = sorted((e for e in entries if not e.name.startswith(".")), key=lambda e: e.name)
        if any(is_checkpoint_file(e.name) and e.is_file() for e in steps):
            continue
        for step in steps:
            is_alias = step.is_symlink() and os.path.realpath(step.path).startswith(inside)
            if step.is_dir() and not is_alias:
                yield family.name, step.name, Path(step.path)


def misplaced(folder: Path) -> list[str]:
    """Folders in checkpoints/ that hold a checkpoint where families should be."""
    return [
        family.name for family in _families(folder) if any(is_checkpoint_file(name) for name in os.listdir(family.path))
    ]


def _families(folder: Path) -> Iterator[os.DirEntry]:
    try:
        with os.scandir(folder / "checkpoints") as entries:
            families = [e for e in entries if e.is_dir() and not e.name.startswith(".")]
            yield from sorted((e for e in families if not _SAVED_STEP.fullmatch(e.name)), key=lambda e: e.name)
    except (FileNotFoundError, NotADirectoryError):
        return
