"""`seamline ingest auto`: finds every kind of source in a tree by what it is, lands it, says what it did not know."""

import os
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from homes.errors import SourceError
from homes.paths import Home
from ingest.checkpoints import sweeps as checkpoints
from ingest.driver_usage import sessions as driver_usage
from ingest.formats.json_values import json_object
from ingest.formats.values import Unreadable
from ingest.open_instruct import shards as rollouts
from ingest.rounds import trees as rounds
from ingest.run import Outcome
from ingest.scores import tables as scores
from ingest.teacher_calls import logs as teacher_calls
from ingest.verl import file_logger as native_metrics
from ingest.wandb import source as wandb

_SNIFFED_BYTES = 1 << 16
_SIMULATION = ".seamline-simulation"
_BESIDE_A_SIMULATION = {"declared", "truth"}
"""What `seamline simulate` writes beside the upstream files, and marks with a file of that name."""


def _is_native(file: Path) -> bool:
    return native_metrics.matches(file) or (file.suffix == ".jsonl" and {"step", "data"} == _first_keys(file))


def _is_call_log(file: Path) -> bool:
    """By its place, else by what calls of OpenAI's two interfaces and this project's own records say of tokens."""
    if teacher_calls.matches(file) or file.suffix != ".jsonl":
        return teacher_calls.matches(file)
    with open(file, "rb") as handle:
        head = handle.read(_SNIFFED_BYTES)
    says_tokens = any(mark in head for mark in (b'"prompt_tokens"', b'"input_tokens"', b'"cost_usd"'))
    return b'"responses_create_params"' in head or (b'"model"' in head and says_tokens and b'"sessionId"' not in head)


def _first_keys(file: Path) -> set[str]:
    """The keys of the first line that is a JSON object, among the first lines of a file."""
    with open(file, "rb") as handle:
        head = handle.read(_SNIFFED_BYTES)
    for line in head.splitlines()[:5]:
        try:
            return set(json_object(line))
        except Unreadable:
            continue
    return set()


KINDS: dict[str, tuple[Callable[[Path], bool], Callable[[Home, list[str]], Outcome]]] = {
    "rollouts": (rollouts.is_rollout_file, rollouts.ingest_rollouts),
    "rounds": (rounds.matches, rounds.ingest_rounds),
    "wandb": (wandb.belongs, wandb.ingest_wandb),
    "native-metrics": (_is_native, native_metrics.ingest_native_metrics),
    "driver-usage": (driver_usage.is_session_log, driver_usage.ingest_driver_usage),
    "scores": (scores.is_scores, scores.ingest_scores),
    "teacher-calls": (_is_call_log, teacher_calls.ingest_teacher_calls),
}
"""How a file of each kind is known, and what lands it; the first that knows a file has it. Checkpoints are folders."""


def ingest_auto(home: Home, folder: Path) -> Iterator[str]:
    """Land everything that is known in a tree; yields a line for each kind, and one for what is not known.

    Raises SourceError where nothing is known, and at the end where a kind could not be landed.
    """
    if not folder.is_dir():
        raise SourceError(f"{folder}: no such folder; give the folder that holds the campaign")
    folder = folder.resolve()
    found: dict[str, list[Path]] = {kind: [] for kind in KINDS}
    places = [place for top in _tops(folder) for place in checkpoints.find(top)]
    unknown = []
    for file in _files(folder, set(places)):
        kind = next((kind for kind, (knows, _) in KINDS.items() if knows(file)), None)
        if kind:
            found[kind].append(file)
        else:
            unknown.append(file)
    if not places and not any(found.values()):
        raise SourceError(f"{folder}: nothing in it is known; `seamline ingest --help` lists the kinds")
    failed = None
    landing = {kind: (files, KINDS[kind][1]) for kind, files in found.items()}
    for kind, (paths, ingest) in (landing | {"checkpoints": (places, checkpoints.ingest_checkpoints)}).items():
        # An export of W&B may need what lies beside it, so that reader is given folders.
        given = {str(_top(folder, path)) if kind == "wandb" else str(path): None for path in paths}
        try:
            if given:
                yield ingest(home, list(given)).line()
        except SourceError as error:
            failed = failed or error
            yield f"{kind}: failed: {error}"
    # Below the folder of a W&B run lie its configuration and its output.
    runs = {path.parent for path in found["wandb"]}
    yield _not_known(folder, [file for file in unknown if runs.isdisjoint(file.parents)])
    if failed:
        raise failed


def _tops(folder: Path) -> list[Path]:
    """What lies in the folder, but for hidden files and what a simulation writes beside upstream files."""
    skipped = _BESIDE_A_SIMULATION if (folder / _SIMULATION).exists() else set()
    return sorted(path for path in folder.iterdir() if path.name not in skipped and not path.name.startswith("."))


def _top(folder: Path, path: Path) -> Path:
    return folder / path.relative_to(folder).parts[0]


def _files(folder: Path, places: set[Path]) -> Iterator[Path]:
    """Every file but those of checkpoints: bare folders, and in a cell its checkpoints/ and what it says of itself."""
    for top in _tops(folder):
        if top.is_file():
            if top not in places:
                yield top
            continue
        for base, folders, files in os.walk(top):
            here = Path(base)
            is_cell = here in places and checkpoints.is_cell(here)
            if here in places and not is_cell:
                folders.clear()
                continue
            folders[:] = sorted(f for f in folders if not f.startswith(".") and not (is_cell and f == "checkpoints"))
            own = checkpoints.CELL_FILES if is_cell else ()
            yield from (here / name for name in sorted(files) if name not in own and here / name not in places)


def _not_known(folder: Path, files: list[Path]) -> str:
    if not files:
        return "not recognised: nothing"
    endings = Counter(file.suffix or "no ending" for file in files).most_common(4)
    told = ", ".join(f"{count} {ending}" for ending, count in endings)
    first = ", ".join(str(file.relative_to(folder)) for file in files[:3])
    return f"not recognised: {len(files)} files ({told}), such as {first}"
