"""`seamline ingest PATH...`: finds every kind of source by what it is, lands it, says what it did not know."""

import glob
import os
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from homes.errors import SourceError
from homes.names import storable
from homes.paths import Home
from ingest.kind import Kind, load
from ingest.sources import KINDS

_SIMULATION = ".seamline-simulation"
_BESIDE_A_SIMULATION = {"declared", "truth"}
"""What `seamline simulate` writes beside the upstream files, and marks with a file of that name."""


@dataclass
class Found:
    """What lies at some paths: for each kind its files and folders, and the files that no kind knows."""

    sources: dict[str, list[Path]] = field(default_factory=dict)
    for_readers: dict[str, dict[str, None]] = field(default_factory=dict)
    """What the reader of each kind is to be given, in order."""
    unknown: list[Path] = field(default_factory=list)

    def add(self, kind: Kind, source: Path, for_reader: Path | str) -> None:
        self.sources.setdefault(kind.name, []).append(source)
        self.for_readers.setdefault(kind.name, {})[str(for_reader)] = None


def ingest_auto(home: Home, paths: list[str]) -> Iterator[str]:
    """Land everything that is known at `paths` (folders, files, globs); yields a line for each kind that was found, and
    one for what is not known.

    Raises SourceError where nothing is known, and at the end where a kind could not be landed.
    """
    found = Found()
    roots = list(dict.fromkeys(root for path in paths for root in _expand(path)))
    for root in roots:
        find_sources(root, found)
    if not found.sources:
        raise SourceError(
            f"{', '.join(paths)}: nothing in it is known; `seamline ingest --help` lists the kinds, and "
            "`seamline ingest KIND FILE` reads a file as that kind whatever it looks like"
        )
    failed = None
    for kind in KINDS.values():
        if kind.name not in found.for_readers:
            continue
        try:
            yield load(kind.reader)(home, list(found.for_readers[kind.name])).line()
        except SourceError as error:
            failed = failed or error
            yield f"{kind.name}: failed: {error}"
    yield _not_known(roots, found)
    if failed:
        raise failed


def _expand(path: str) -> list[Path]:
    """A path as it stands, or what it matches as a glob."""
    found = [Path(path)] if Path(path).exists() else [Path(match) for match in sorted(glob.glob(path, recursive=True))]
    if not found:
        raise SourceError(
            f"{path}: no such file or folder, nor a kind; check the path, or name a kind for what lies on a server "
            "(`seamline ingest --help` lists them)"
        )
    return [match.resolve() for match in found]


def find_sources(root: Path, found: Found) -> None:
    """Add what lies at or below a path."""
    skipped = _BESIDE_A_SIMULATION if (root / _SIMULATION).exists() else set()
    skips = {root / name for name in skipped}
    places: dict[Path, Kind] = {}
    for kind in KINDS.values():
        for place in load(kind.finds_places)(root) if kind.finds_places else ():
            if skips.isdisjoint((place, *place.parents)):
                places[place] = kind
                is_below = kind.is_given_roots and place != root
                found.add(kind, place, f"{root}/./{place.relative_to(root)}" if is_below else place)
    knows = [(kind, load(kind.knows_file)) for kind in KINDS.values() if kind.knows_file]
    unknown: list[Path] = []
    for file in _files(root, skips) if root.is_dir() else [root]:
        if file in places:
            continue
        known = next((kind for kind, knows_file in knows if knows_file(file)), None)
        if known is None:
            unknown.append(file)
        else:
            found.add(known, file, _for_reader(root, file) if known.is_given_folders else file)
    owners = list(_owners(found, places))
    found.unknown += [file for file in unknown if not any(is_theirs(file) for is_theirs in owners)]


def _files(root: Path, skips: set[Path]) -> Iterator[Path]:
    """Every file below a folder but hidden ones. Links are followed where they lead out of it, and each folder once."""
    seen = set()
    for base, folders, files in os.walk(root, followlinks=True):
        here, real = Path(base), os.path.realpath(base)
        if real in seen:
            folders.clear()
            continue
        seen.add(real)
        shown = {name: here / name for name in sorted(folders + files) if not name.startswith(".")}
        shown = {name: path for name, path in shown.items() if path not in skips and not _leads_inside(path, root)}
        folders[:] = [name for name in sorted(folders) if name in shown]
        yield from (path for name, path in shown.items() if name not in folders and path.is_file())


def _leads_inside(path: Path, root: Path) -> bool:
    return path.is_symlink() and path.resolve().is_relative_to(root)


def _for_reader(root: Path, file: Path) -> Path:
    """The folder right below the root that holds a file, or the file where it lies there itself."""
    return root / file.relative_to(root).parts[0] if file != root else file


def _owners(found: Found, places: dict[Path, Kind]) -> Iterator[Callable[[Path], bool]]:
    """Tell whether a file is no source itself, but is read with one or lies there because of one."""
    yield partial(_is_part, places=places)
    for name, sources in found.sources.items():
        if beside := KINDS[name].is_beside:
            yield partial(load(beside), folders={source.parent for source in sources})


def _is_part(file: Path, places: dict[Path, Kind]) -> bool:
    for place in file.parents:
        if place in places and (is_part := places[place].is_part):
            return load(is_part)(place, file)
    return False


def _not_known(roots: list[Path], found: Found) -> str:
    if not found.unknown:
        return "not recognised: nothing"
    endings = Counter(file.suffix or "no ending" for file in found.unknown).most_common(4)
    counts = ", ".join(f"{count} {ending}" for ending, count in endings)
    first = ", ".join(_shown(file, roots) for file in found.unknown[:3])
    return f"not recognised: {len(found.unknown)} files ({counts}), such as {first}"


def _shown(file: Path, roots: list[Path]) -> str:
    """A file by its path below the one folder that was given, else by its whole path."""
    path = file.relative_to(roots[0]) if len(roots) == 1 and roots[0].is_dir() else file
    return storable(str(path))
