"""Reader of companions: folders or Hub repos that hold a cell's record or data (`<cell>-record`, `<cell>-data`)."""

import re
from collections.abc import Iterable
from typing import Any

_COMPANION = re.compile(r"(.+)-(record|data)")

Contents = Iterable[tuple[str, int | None]]
"""(path below the companion, size in bytes or null where unknown) of each file."""


def stem_of(name: str) -> str | None:
    """The cell whose record or data a folder or repo of this name holds; null for any other name."""
    found = _COMPANION.fullmatch(name)
    return found[1] if found else None


def companion_rows(repo: str, contents: Contents) -> dict[str, list[dict[str, Any]]]:
    """Rows of hub_companions and companion_entries of a companion on disk, which has no type."""
    return {
        "hub_companions": [{"repo": repo, "repo_type": None, "source_kind": "folder"}],
        "companion_entries": entry_rows(repo, None, contents),
    }


def entry_rows(repo: str, repo_type: str | None, contents: Contents) -> list[dict[str, Any]]:
    """Rows of companion_entries: what lies at the top of a companion, with its files counted."""
    entries: dict[str, list[int | None]] = {}
    for path, size in contents:
        entries.setdefault(path.split("/", 1)[0] + ("/" if "/" in path else ""), []).append(size)
    return [
        {
            "repo": repo,
            "repo_type": repo_type,
            "entry": entry,
            "file_count": len(sizes),
            "size_bytes": None if None in sizes else sum(size for size in sizes if size is not None),
        }
        for entry, sizes in sorted(entries.items())
    ]
