"""The dbt project as dbt parsed it, kept in the checkout's target/ for the builds of every home.

Parsing takes longer than building a small campaign, and dbt's own partial parsing starts anew for each home, because
the path of its warehouse is part of the profile. Nothing that is parsed depends on the home.
"""

import hashlib
import os
import shutil
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING

from homes.paths import PROJECT

if TYPE_CHECKING:
    from dbt.contracts.graph.manifest import Manifest

FOLDERS = ("models", "macros", "tests")
SUFFIXES = {".sql", ".yml", ".md"}
PACKAGES = ("dbt-core", "dbt-adapters", "dbt-duckdb", "dbt-spark")


def parsed_file(target: str) -> Path:
    """Where the parsed project of a target lies, or would: the name tells every file and version it was made from."""
    digest = hashlib.sha256()
    for package in PACKAGES:
        digest.update(f"{package} {_version(package)}\0".encode())
    files = [PROJECT / "dbt_project.yml", PROJECT / "profiles.yml"]
    files += [file for folder in FOLDERS for file in (PROJECT / folder).rglob("*") if file.suffix in SUFFIXES]
    for file in sorted(files):
        content = file.read_bytes()
        digest.update(f"{file.relative_to(PROJECT).as_posix()}\0{len(content)}\0".encode() + content)
    return PROJECT / "target" / f"parsed-{target}-{digest.hexdigest()[:16]}.msgpack"


def read_parsed(file: Path) -> "Manifest | None":
    """The parsed project; None where there is none that can be read."""
    from dbt.contracts.graph.manifest import Manifest
    from dbt.parser.manifest import extended_mashumuro_decoder

    try:
        manifest = Manifest.from_msgpack(file.read_bytes(), decoder=extended_mashumuro_decoder)
    except Exception:  # whatever a damaged file makes the decoder raise: dbt parses the project then
        return None
    manifest.metadata.generated_at = datetime.now(UTC).replace(tzinfo=None)
    manifest.build_flat_graph()  # what macros see as `graph`
    return manifest


def keep_parsed(target: str, file: Path, parsed: Path) -> None:
    """Copy what dbt has `parsed` to `file`, unless the project changed meanwhile or the checkout can't be written."""
    if not parsed.exists() or parsed_file(target) != file:
        return
    try:
        file.parent.mkdir(exist_ok=True)
        aside = file.with_suffix(f".{os.getpid()}")
        shutil.copy(parsed, aside)
        aside.rename(file)
        for older in file.parent.glob(f"parsed-{target}-*.msgpack"):
            if older != file:
                older.unlink(missing_ok=True)
    except OSError:
        return


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "none"
