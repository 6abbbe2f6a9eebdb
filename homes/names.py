"""Names that come from data as text that can be stored, and as file names that never leave their folder or collide."""

import hashlib
import re
from collections.abc import Iterable

_UNSAFE = re.compile(r"[^A-Za-z0-9._=+-]+")
_LONGEST = 120


def storable(text: str) -> str:
    """The text with half surrogate pairs, which UTF-8 (so Parquet) can't hold, as their escapes."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()


def short_digest(text: str) -> str:
    """The first 8 hex digits of the SHA-256 of `text` in UTF-8 (lone surrogates allowed)."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]


def file_stem(name: str) -> str:
    """A file name stem for `name`: itself where it is harmless, else its harmless part and a digest of the whole.

    It never starts with `.` or `_`: readers of folders (pyarrow, Spark) take such files for hidden.
    """
    plain = _UNSAFE.sub("_", name)[:_LONGEST].lstrip("._-")
    return name if plain == name and name else f"{plain or 'unnamed'}-{short_digest(name)}"


def file_stems(names: Iterable[str]) -> dict[str, str]:
    """A stem for each name, all different even where upper and lower case are one (macOS, Windows)."""
    stems = {name: file_stem(name) for name in sorted(set(names))}
    attempt = 0
    while clashing := _clashing(stems):
        attempt += 1
        stems |= {name: f"{stems[name]}-{short_digest(f'{attempt}:{name}')}" for name in clashing}
    return stems


def _clashing(stems: dict[str, str]) -> list[str]:
    """The names whose stems are another name's too, case apart."""
    by_folded: dict[str, list[str]] = {}
    for name, stem in stems.items():
        by_folded.setdefault(stem.casefold(), []).append(name)
    return [name for same in by_folded.values() if len(same) > 1 for name in same]
