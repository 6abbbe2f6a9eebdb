"""What must not leave: credentials in the files of an export, found by detect-secrets before they are moved into place.

Its detectors all run but two: bare hexadecimal digests and IP addresses are what exports are full of. Keys without a
known form are found by their randomness, or by the name beside them. The logins of whoever exports are looked for as
they are. Numbers and times can hold none of this and are passed over, so a large table costs what its texts cost.
"""

import hashlib
import json
import netrc
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from homes.errors import ExportError

RANDOMNESS_BITS = 4.5
"""Shannon entropy a character from which detect-secrets takes base64 text for a key (its default)."""

_LEFT_OUT = {"HexHighEntropyString", "IPPublicDetector", "Base64HighEntropyString"}  # the last runs by itself, below
_WORD = re.compile(r"[A-Za-z0-9+_=-]{23,}")  # no shorter one can have so many bits a character
_FILTERS = ("is_sequential_string", "is_potential_uuid", "is_templated_secret", "is_not_alphanumeric_string")
_NO_TEXT = r"^[-+0-9.:eETZ ]*$|^-?(NaN|nan|inf|Infinity|true|false)$"
_NUMBER_LIST = re.compile(r"\[[-+0-9.eE,\s]*\]")
_BATCH_CHARACTERS = 4000
SHOWN = 20


@dataclass(frozen=True)
class Hit:
    """A credential, named without its value. `digest` is that of the cell or line it stands in."""

    file: str
    row: int
    kind: str
    digest: str


def refuse_secrets(folder: Path, allowed: Iterable[str]) -> None:
    """Raise ExportError that names file, row and kind of what looks like a credential and is not in `allowed`.

    `allowed` are SHA-256 digests of cells or lines a person has checked.
    """
    known = {digest.lower() for digest in allowed}
    hits = [hit for hit in scan(folder) if hit.digest not in known]
    if hits:
        hits_text = "".join(f"\n  {h.file}, row {h.row}: {h.kind} (digest {h.digest})" for h in hits[:SHOWN])
        more = f"\n  and {len(hits) - SHOWN} more" if len(hits) > SHOWN else ""
        raise ExportError(
            f"nothing was exported: {len(hits)} places look like credentials. Remove them upstream and revoke them; a "
            f"checked false alarm goes into declared/allowed_secrets.csv by its digest:{hits_text}{more}"
        )


def scan(folder: Path) -> list[Hit]:
    """Every place in the files below `folder` that looks like a credential."""
    from detect_secrets.core.plugins.util import get_mapping_from_secret_type_to_class
    from detect_secrets.settings import transient_settings

    classes: dict[str, type] = get_mapping_from_secret_type_to_class()
    names = {plugin.__name__ for plugin in classes.values()} - _LEFT_OUT
    plugins = [{"name": name} for name in sorted(names)]
    filters = [{"path": f"detect_secrets.filters.heuristic.{name}"} for name in _FILTERS]
    own = own_logins()
    hits: list[Hit] = []
    seen: dict[str, list[str]] = {}
    with transient_settings({"plugins_used": plugins, "filters_used": filters}):
        for path in sorted(path for path in folder.rglob("*") if path.is_file() and _is_read(path)):
            places = dict(_places(path))
            _look(places, seen, own)
            name = path.relative_to(folder).as_posix()
            for text, (row, cell) in places.items():
                digest = hashlib.sha256(cell.encode()).hexdigest()
                hits += [Hit(name, row, kind, digest) for kind in seen[text]]
    return hits


def _is_read(path: Path) -> bool:
    """Whether a file is text or Parquet: pictures and weights are not."""
    with open(path, "rb") as handle:
        return path.suffix == ".parquet" or b"\0" not in handle.read(8192)


def _look(places: Iterable[str], seen: dict[str, list[str]], own: dict[str, str]) -> None:
    """Note in `seen` what kinds of credential each text holds; many texts are looked at as one while none does."""
    batch: list[str] = []
    size = 0
    for text in places:
        if text in seen:
            continue
        batch.append(text)
        size += len(text)
        if size >= _BATCH_CHARACTERS:
            _look_at(batch, seen, own)
            batch, size = [], 0
    _look_at(batch, seen, own)


def _look_at(batch: list[str], seen: dict[str, list[str]], own: dict[str, str]) -> None:
    is_clean = not _kinds("\n".join(batch), own)
    for text in batch:
        seen[text] = [] if is_clean else _kinds(text, own)


def _kinds(text: str, own: dict[str, str]) -> list[str]:
    from detect_secrets.core.scan import scan_line

    found = {kind for kind, login in own.items() if login in text}
    found |= {secret.type for secret in scan_line(text)}
    # The detector of random text looks at what stands in quotes. A path is not one word, however long it is.
    words = " ".join(f'"{word}"' for word in _WORD.findall(text))
    if words:
        found |= {secret.type for secret in _random_text().analyze_line("", words, 0)}
    return sorted(found)


@cache
def _random_text() -> Any:
    from detect_secrets.plugins.high_entropy_strings import Base64HighEntropyString

    return Base64HighEntropyString(limit=RANDOMNESS_BITS)


def own_logins() -> dict[str, str]:
    """The W&B and Hub logins of this machine, by what they are; they go nowhere but into a comparison."""
    from huggingface_hub import get_token

    found = {"your own Hugging Face token": get_token(), "your own W&B key": os.environ.get("WANDB_API_KEY")}
    try:
        for host, (_, _, password) in netrc.netrc().hosts.items():
            found[f"your own login at {host}"] = password
    except (OSError, netrc.NetrcParseError):
        pass
    return {kind: login for kind, login in found.items() if login and len(login) >= 8}


def _places(path: Path) -> Iterator[tuple[str, tuple[int, str]]]:
    """(text to look at, (row from 1, cell or line)) of every text; of equal ones the first stands."""
    found: dict[str, tuple[int, str]] = {}
    for row, cell, text in _texts(path):
        found.setdefault(_NUMBER_LIST.sub("[]", text), (row, cell))
    yield from found.items()


def _texts(path: Path) -> Iterator[tuple[int, str, str]]:
    """(row, cell, text to look at): lines as they are, cells with their column's name before them."""
    if path.suffix == ".csv":
        yield from _csv_texts(path)
    elif path.suffix == ".parquet":
        yield from _cell_texts(pq.ParquetFile(path).iter_batches(), 1)
    else:
        with open(path, encoding="utf-8", errors="backslashreplace") as handle:
            for number, line in enumerate(handle, 1):
                yield from ((number, line.rstrip("\n"), text) for text in _leaves(path, line.rstrip("\n")))


def _csv_texts(path: Path) -> Iterator[tuple[int, str, str]]:
    options = pa_csv.ParseOptions(newlines_in_values=True)
    with open(path, encoding="utf-8") as handle:
        header = handle.readline()
    yield 1, header, header
    read = pa_csv.ReadOptions(block_size=max(1 << 24, len(header) * 2))
    batches = pa_csv.open_csv(path, read, options)
    try:
        yield from _cell_texts(batches, 2)
    except pa.ArrowInvalid:  # a column that began with numbers goes on with texts: from the start, all as texts
        convert = pa_csv.ConvertOptions(column_types=dict.fromkeys(batches.schema.names, pa.string()))
        yield from _cell_texts(pa_csv.open_csv(path, read, options, convert), 2)


def _cell_texts(batches: Iterable[pa.RecordBatch], first: int) -> Iterator[tuple[int, str, str]]:
    """The texts of the cells; `first` is the row of the first."""
    for batch in batches:
        for name, column in zip(batch.schema.names, batch.columns, strict=True):
            yield from ((row + first, cell, f'{name}: "{cell}"') for row, cell in _first_of_each(column))
        first += batch.num_rows


def _leaves(path: Path, line: str) -> Iterator[str]:
    """The texts in a line of JSON, each with its key: most of a file's are alike. Any other line is one text."""
    try:
        value = json.loads(line) if path.suffix == ".jsonl" else None
    except ValueError:
        value = None
    if not isinstance(value, dict):
        yield line
        return
    left: list[tuple[str, object]] = list(value.items())
    while left:
        key, value = left.pop()
        if isinstance(value, dict):
            left += value.items()
        elif isinstance(value, list):
            left += ((key, item) for item in value if not isinstance(item, (int, float)))
        elif isinstance(value, str):
            yield f'{key}: "{value}"'


def _first_of_each(column: pa.Array) -> Iterator[tuple[int, str]]:
    """(row, cell) of the first of each distinct text of a column that is neither a number nor a time."""
    if not pa.types.is_string(column.type):
        return
    encoded = column.dictionary_encode()
    is_text = pc.invert(pc.match_substring_regex(encoded.dictionary, _NO_TEXT)).to_numpy(zero_copy_only=False)
    if not is_text.any():
        return
    codes, rows = np.unique(encoded.indices.fill_null(-1).to_numpy(), return_index=True)
    for code, row in zip(codes.tolist(), rows.tolist(), strict=True):
        if code >= 0 and is_text[code]:
            yield row, encoded.dictionary[code].as_py()
