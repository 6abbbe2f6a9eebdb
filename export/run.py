"""`seamline export`: every domain's files in one folder, with a README, a file list and checksums."""

import hashlib
import importlib
import os
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import ModuleType

import duckdb

from export.card import card
from export.secrets import refuse_secrets
from homes.declared import declared_rows
from homes.errors import ExportError
from homes.paths import Home
from homes.warehouse import open_warehouse

DOMAINS = {
    "curves": "export.curves",
    "turns": "export.turns",
    "rounds": "export.rounds",
    "teacher": "export.teacher",
    "checkpoints": "export.checkpoints",
}
"""Module of each domain, in the order of the README. Its `write(warehouse, folder, profile)` writes the domain's files
and returns its README section, or an empty text where it has no data. Where its files can be large, its
`sizes(warehouse, profile)` tells beforehand about how many bytes each part will have."""

WITHOUT_HOST_INFO = "create temp view config_deviations as select * from main.shared_config_deviations"
"""Stands before the one mart that shows config values as they were logged. Nothing else that W&B tells of a machine or
a person is landed at all: not its metadata file, not the run record's host."""

FILES, SUMS = "FILES.txt", "SHA256SUMS"


SIZE_LIMIT_GIB = 4.0
"""What the Hub's copies of a campaign are held to."""


def export(
    home: Home,
    folder: Path,
    only: Sequence[str] = (),
    profile: str = "archive",
    limit_gib: float = SIZE_LIMIT_GIB,
    with_figures: bool = True,
    with_host_info: bool = False,
    target: str = "duckdb",
) -> list[str]:
    """Export the domains (all, or those in `only`) of what `target` built into `folder`.

    Returns a line for each thing a person should know.
    Files are written beside `folder` and moved in when all are complete; files of an earlier export that are gone are
    removed, files that no export wrote are left alone. Raises ExportError where a domain asked for has no data or the
    folder holds something else or the export would be larger than `limit_gib` or something in it looks like a
    credential, HomeError where the warehouse is missing or held open.
    """
    folder = folder.expanduser().resolve()
    earlier = _earlier_files(folder)
    aside = folder.parent / f".{folder.name}.seamline-new"
    lines = []
    with open_warehouse(home, target) as warehouse:
        shutil.rmtree(aside, ignore_errors=True)
        try:
            modules = {d: importlib.import_module(m) for d, m in DOMAINS.items() if not only or d in only}
            _check_size(warehouse, modules, profile, limit_gib)
            if not with_host_info:
                warehouse.execute(WITHOUT_HOST_INFO)
            aside.mkdir(parents=True)
            sections = {}
            for domain, module in modules.items():
                section = module.write(warehouse, aside, profile)
                if section:
                    sections[domain] = section
                elif only:
                    raise ExportError(f"{domain}: nothing to export; ingest its sources, then build again")
                else:
                    lines.append(f"{domain}: no data, left out")
            if not sections:
                raise ExportError(f"{home.path}: nothing to export; ingest something, then build again")
            pictures = ""
            if with_figures:
                from export.figures import draw as figures  # the library that draws takes most of a second to load

                pictures = figures.write(warehouse, aside, sections)
            counts = row_counts(warehouse, [path.relative_to(aside).as_posix() for path in aside.rglob("*.csv")])
            (aside / "README.md").write_text(card(warehouse, aside, sections, counts, pictures), encoding="utf-8")
            refuse_secrets(aside, [str(row["digest"]) for row in declared_rows(home, "allowed_secrets")])
            files = _describe(aside)
            _move(aside, folder, files, earlier)
        except OSError as error:
            raise ExportError(f"{error.filename or folder}: can't be written ({error.strerror})") from error
        finally:
            shutil.rmtree(aside, ignore_errors=True)
    return [*lines, f"{folder}: {len(files) + 2} files ({', '.join(sections)})"]


def row_counts(warehouse: duckdb.DuckDBPyConnection, paths: Iterable[str]) -> dict[str, int]:
    """Rows that each CSV file must have: `tables/<mart>.csv` those of the mart, the others what their domain tells."""
    marts = {name for (name,) in warehouse.execute("show tables").fetchall()}
    named = {path: Path(path).stem for path in paths if Path(path).match("tables/*.csv") and Path(path).stem in marts}
    counts = {}
    for path, mart in named.items():
        [(counts[path],)] = warehouse.execute(f'select count(*) from "{mart}"').fetchall()
    for name in DOMAINS.values():
        module = importlib.import_module(name)
        if hasattr(module, "row_counts"):
            counts |= module.row_counts(warehouse)
    return counts


def _check_size(
    warehouse: duckdb.DuckDBPyConnection, modules: dict[str, ModuleType], profile: str, limit_gib: float
) -> None:
    parts: dict[str, int] = {}
    for module in modules.values():
        if hasattr(module, "sizes"):
            parts |= module.sizes(warehouse, profile)
    total = sum(parts.values())
    if total > limit_gib * 2**30:
        largest = sorted(parts.items(), key=lambda part: (-part[1], part[0]))[:3]
        named = ", ".join(f"{path} ({size / 2**30:.2f} GiB)" for path, size in largest)
        raise ExportError(
            f"the export would be about {total / 2**30:.2f} GiB, over the limit of {limit_gib:g} GiB; largest: "
            f"{named}. Raise it with --limit-gib, leave a domain out with --only, or take --profile reading"
        )


def _earlier_files(folder: Path) -> set[str]:
    """What an earlier export wrote in `folder`. Raises ExportError for a folder that holds anything else instead."""
    if not folder.exists():
        return set()
    if not folder.is_dir():
        raise ExportError(f"{folder}: a file; name a folder to export into")
    if not any(folder.iterdir()):
        return set()
    if not ((folder / FILES).is_file() and (folder / SUMS).is_file()):
        raise ExportError(f"{folder}: holds files that are no Seamline export; name a new or empty folder")
    lines = (folder / FILES).read_text(encoding="utf-8").splitlines()
    return {path for path, _, _ in (line.rpartition("\t") for line in lines) if _is_inside(folder, path)}


def _is_inside(folder: Path, path: str) -> bool:
    """Whether a path of an earlier FILES.txt names a file below `folder`: nobody's edit of it may reach outside."""
    target = folder / path
    return target.is_file() and target.parent.resolve().is_relative_to(folder)


def _describe(folder: Path) -> list[str]:
    """Write FILES.txt and SHA256SUMS over all files below `folder`; returns the paths that FILES.txt holds."""
    files = sorted(str(p.relative_to(folder).as_posix()) for p in folder.rglob("*") if p.is_file())
    sizes = "".join(f"{path}\t{(folder / path).stat().st_size}\n" for path in files)
    (folder / FILES).write_text(sizes, encoding="utf-8")
    sums = "".join(f"{_sha256(folder / path)}  {path}\n" for path in sorted([*files, FILES]))
    (folder / SUMS).write_text(sums, encoding="utf-8")
    return files


def _sha256(path: Path) -> str:
    with open(path, "rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def _move(aside: Path, folder: Path, files: Sequence[str], earlier: set[str]) -> None:
    """Move the files in, the lists last, so that a move cut short shows in `sha256sum -c` until the next export."""
    for path in [*files, FILES, SUMS]:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        os.replace(aside / path, folder / path)
    for path in sorted(earlier - {*files, FILES, SUMS}):
        (folder / path).unlink()
        for parent in (folder / path).parents:
            if parent == folder or any(parent.iterdir()):
                break
            parent.rmdir()
