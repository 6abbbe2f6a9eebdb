"""Where checkpoints lie: cells of a sweep, bare checkpoint folders, companions, lists. Layouts: see `find`."""

import os
import re
from collections.abc import Iterator
from pathlib import Path

from ingest.checkpoints.companions import stem_of
from ingest.checkpoints.listed import is_list
from ingest.checkpoints.manifests import is_manifest
from ingest.checkpoints.names import is_checkpoint_file, is_part_name, is_shard, step_of
from ingest.formats.heads import head
from ingest.formats.json_values import json_object
from ingest.formats.values import Unreadable, as_name

_MODEL_MARKS = (b'"model_type"', b'"architectures"', b'"_name_or_path"', b'"eos_token_id"')
CELL_FILES = ("run.json", "submission.json", "ckpt-janitor.log")
"""What a cell says of itself, beside its checkpoints/ and driver/."""
_SAVED_STEP = re.compile(r"global_step_\d+")
"""Folders of a trainer's own saved steps, which lie in a checkpoints/ too: no families of a sweep."""
_STARTS_WITH_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_PUBLISHED_TAIL = re.compile(r"\.h(\d{3,}|NA)\.")
_NEMO_KEYS = ("current_step", "total_steps", "consumed_samples")


def find(path: Path) -> list[Path]:
    """Cells (a folder with run.json or checkpoints/<family>/<step>/), bare checkpoints, companions of cells, manifests
    and lists in a tree. Below a bare checkpoint others may lie (`config.json` beside `checkpoint-<step>/`)."""
    path = path.resolve()
    if path.is_file():
        return [path] if is_manifest(path) or is_list(path) else []
    found: list[Path] = []
    cells: set[str] = set()
    within: dict[str, Path] = {}
    for base, folders, files in os.walk(path):
        here, above = Path(base), os.path.dirname(base)
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        if above in cells:
            folders[:] = [name for name in folders if _SAVED_STEP.fullmatch(name)]
            continue
        if is_companion(here):
            found.append(here)
            folders.clear()
            continue
        if is_cell(here):
            found.append(here)
            cells.add(base)
            folders[:] = [name for name in folders if name == "checkpoints"]
            continue
        outer = within.get(above)
        if is_own(here, files, outer) if outer else is_checkpoint(here, files):
            found.append(here)
            outer = here
            if _is_whole(here, files):
                folders.clear()
        if outer:
            within[base] = outer
        found += [here / name for name in sorted(files) if is_manifest(here / name) or is_list(here / name)]
    return found


def is_part(place: Path, file: Path) -> bool:
    """Whether a file below a place is read with it: of a cell what it says of itself and the files of its checkpoints,
    of a companion all, of a bare checkpoint its files."""
    if is_companion(place):
        return True
    parts = file.relative_to(place).parts
    if is_cell(place) and parts[0] != "checkpoints":
        return parts[0] in CELL_FILES
    return is_part_name(file.name)


def own_files(folder: Path) -> Iterator[tuple[str, os.stat_result]]:
    """(path below it, stat) of each file of a bare checkpoint: those whose names say so, but for the files of other
    checkpoints below it."""
    is_whole = _is_whole(folder, os.listdir(folder))
    for base, folders, files in os.walk(folder):
        here = Path(base)
        if here != folder and not is_whole and is_own(here, files, folder):
            folders.clear()
            continue
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(filter(is_part_name, files)):
            yield os.path.relpath(here / name, folder), os.stat(here / name, follow_symlinks=False)


def is_checkpoint(folder: Path, files: list[str]) -> bool:
    """Whether files make a folder a checkpoint; a lone config.json only where it configures a model, a trainer's state
    only where the folder is named for a step."""
    telling = [name for name in files if is_checkpoint_file(name)]
    if telling == ["config.json"]:
        return _configures_model(folder) or _has_state(folder, files)
    return bool(telling) or _has_state(folder, files)


def is_own(folder: Path, files: list[str], outer: Path) -> bool:
    """Whether a folder below the checkpoint `outer` is another one, and no part of it: it holds an adapter, or the
    config of a model, or it is a saved step of a run whose last model is `outer`."""
    if "adapter_config.json" in files or ("config.json" in files and _configures_model(folder)):
        return True
    is_step = step_of(folder.name) or (step_of(folder.parent.name) and folder.parent != outer)
    return bool(is_step) and step_of(outer.name) is None and is_checkpoint(folder, files)


def is_companion(folder: Path) -> bool:
    """Whether a folder holds the record or the data of a cell: the cell, or a checkpoint of it, lies beside it."""
    stem = stem_of(folder.name)
    if stem is None:
        return False
    with os.scandir(folder.parent) as entries:
        names = [entry.name for entry in entries if entry.is_dir()]
    return (stem in names and is_cell(folder.parent / stem)) or any(_is_checkpoint_of(stem, name) for name in names)


def _is_checkpoint_of(cell: str, name: str) -> bool:
    """Whether a folder has the name that a checkpoint of a cell is published by."""
    return _PUBLISHED_TAIL.match(name.removeprefix(cell)) is not None and name.startswith(cell)


def _is_whole(folder: Path, files: list[str]) -> bool:
    """Whether whatever lies below a checkpoint is a part of it: the shards of ranks, the layout of NeMo-RL."""
    return any(map(is_shard, files)) or _has_key(folder / "training_info.json", _NEMO_KEYS)


def _has_state(folder: Path, files: list[str]) -> bool:
    return step_of(folder.name) is not None and (
        "trainer_state.json" in files or _has_key(folder / "training_info.json", (*_NEMO_KEYS, "step"))
    )


def _configures_model(folder: Path) -> bool:
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


def steps(folder: Path) -> Iterator[tuple[str, str | None, Path]]:
    """(family, step, path) of each checkpoint folder; a link to another step of the cell is not one of its own.

    A family that holds a checkpoint itself is one too, without a step; of the folders below it those are that hold one.
    """
    inside = os.path.realpath(folder / "checkpoints") + os.sep
    for family in _families(folder):
        with os.scandir(family.path) as entries:
            steps = sorted((e for e in entries if not e.name.startswith(".")), key=lambda e: e.name)
        is_step = any(is_checkpoint_file(e.name) and e.is_file() for e in steps)
        if is_step:
            yield family.name, None, Path(family.path)
        for step in steps:
            is_alias = step.is_symlink() and os.path.realpath(step.path).startswith(inside)
            if step.is_dir() and not is_alias and (not is_step or is_saved_step(Path(step.path))):
                yield family.name, step.name, Path(step.path)


def is_saved_step(folder: Path) -> bool:
    """Whether a folder beside the files of a checkpoint is another one: named for its step, and holding one."""
    return step_of(folder.name) is not None and is_checkpoint(folder, os.listdir(folder))


def _families(folder: Path) -> Iterator[os.DirEntry]:
    try:
        with os.scandir(folder / "checkpoints") as entries:
            families = [e for e in entries if e.is_dir() and not e.name.startswith(".")]
            yield from sorted((e for e in families if not _SAVED_STEP.fullmatch(e.name)), key=lambda e: e.name)
    except (FileNotFoundError, NotADirectoryError):
        return
