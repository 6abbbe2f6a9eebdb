"""What a kind of source is: the form of the statement that each producer's folder makes in its `source.py`.

A statement names its reader as text, `module:function`, so that `seamline --help` and the build can read every
statement without loading a reader, and a reader can never be part of a circle of imports.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any


@dataclass(frozen=True)
class Option:
    """One option of `seamline ingest <kind>`. `--run-id` reaches the reader as its argument `run_id`."""

    flag: str
    type: type
    help: str
    default: object = None
    is_repeatable: bool = False
    minimum: float | None = None

    @property
    def argument(self) -> str:
        return self.flag.removeprefix("--").replace("-", "_")


@dataclass(frozen=True)
class Kind:
    """One kind of source, as `ingest/sources.py` lists it."""

    name: str
    """The word on the command line, and `kind` in `landed_sources`."""

    help: str
    """What the command says of itself: one line."""

    known_by: str
    """How a file or folder of this kind is known in a tree, for the README."""

    domains: tuple[str, ...]
    """The folders of models/marts/ that have rows because of it."""

    reader_version: int
    """Raise it where the same bytes would land as other rows: the next ingest reads this kind again, and no other."""

    tables: tuple[str, ...]
    """The landing tables it fills, the quarantine and `landed_sources` apart."""

    reader: str
    """The function that lands sources: (home, paths, and one named argument for each option) -> Outcome."""

    knows_file: str | None = None
    """The function that tells whether a file met in a tree is of this kind, by its content: (path) -> bool."""

    finds_places: str | None = None
    """Where a source is a folder: the function that finds them, (file or folder) -> the places below it or at it."""

    is_part: str | None = None
    """Tells whether a file below a place that was found is read as part of it: (place, file) -> bool."""

    is_beside: str | None = None
    """Tells whether a file was written with sources that were found: (file, the folders that hold them) -> bool."""

    is_given_folders: bool = False
    """Whether the reader wants the folder in which files were found, because a file says more with what lies beside."""

    is_given_roots: bool = False
    """Whether a place's id is its path below what was given: the reader gets each as `<given>/./<path below it>`."""

    argument_help: str = "Files, folders or globs."
    options: tuple[Option, ...] = ()


def load(name: str) -> Callable[..., Any]:
    """The function that a statement names as `module:function`."""
    module, _, function = name.partition(":")
    return getattr(import_module(module), function)
