"""A home that an earlier version landed in: what must be read again before anything is built or asked."""

import os
import shlex
from pathlib import Path

from homes.errors import HomeError
from homes.landing import Source, forget, is_outdated, landed, make_empty_tables
from homes.paths import Home


def outdated(home: Home, opens_files: bool = False) -> list[Source]:
    """The sources whose landed tables have other columns than this version's, by kind and path."""
    found = [source for source in landed(home).values() if is_outdated(home, source, opens_files)]
    return sorted(found, key=lambda source: (source.kind, source.path))


def check_current(home: Home, opens_files: bool = False) -> None:
    """Raise HomeError where a landed source is outdated: a model would fail on it, or read half of a table."""
    if problem := what_is_outdated(outdated(home, opens_files)):
        raise HomeError(f"{home.path}: {problem}")


def forget_outdated(home: Home) -> str:
    """Remove every outdated source from the home, declared facts untouched; says in a line how many there were."""
    sources = outdated(home, opens_files=True)
    for source in sources:
        forget(home, source.name)
    make_empty_tables(home)
    return f"{home.path}: {len(sources)} sources that another version landed are forgotten"


def what_is_outdated(sources: list[Source]) -> str | None:
    """One line: how many sources, and the commands that read them again. None where there are none."""
    if not sources:
        return None
    count = "1 source was" if len(sources) == 1 else f"{len(sources)} sources were"
    problem = f"{count} landed by another version of Seamline, whose tables have other columns"
    places: dict[str, list[str]] = {}
    for source in sources:
        # Version 0.1 recorded a project's listing, which lands with its runs, as a kind of its own.
        places.setdefault(source.kind.removesuffix("-listing"), []).append(source.path)
    commands = [f"`seamline ingest {kind} {_place(paths)}`" for kind, paths in places.items()]
    problem += f"; read {'it' if len(sources) == 1 else 'them'} again: {', '.join(commands)}"
    if any(command.endswith("PATH...`") for command in commands):
        problem += " (`seamline status --all` lists the paths)"
    if not all(_exists(source.path) for source in sources):
        problem += "; some are gone: when the others are read, `seamline init --forget-outdated` gives those up"
    return problem


def _exists(path: str) -> bool:
    """Whether a source is where it was read; what is not on this machine's disk may be anywhere."""
    return not path.startswith("/") or Path(path.partition("#")[0]).exists()


def _place(paths: list[str]) -> str:
    """The folder that holds all of these paths, or the path where it is one; `PATH...` where nothing shorter does."""
    if len(set(paths)) == 1:
        return shlex.quote(paths[0].partition("#")[0])
    if not any(path.startswith("/") for path in paths):
        servers = {"/".join(path.split("/")[:2]) for path in paths}  # ENTITY/PROJECT/RUN, hf:ORG/REPO
        return shlex.quote(servers.pop()) if len(servers) == 1 else "PATH..."
    if not all(path.startswith("/") for path in paths):
        return "PATH..."
    common = os.path.commonpath(paths)
    return shlex.quote(common) if common != "/" else "PATH..."
