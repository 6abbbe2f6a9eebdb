"""Files of a simulation, the same bytes every time."""

import csv
import json
from collections.abc import Iterable
from pathlib import Path


def write_csv(path: Path, header: list[str], rows: Iterable[Iterable]) -> None:
    """A CSV file with its header; None is an empty cell. Without rows no file is written."""
    rows = list(rows)
    if not rows:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w", newline="", encoding="utf-8") as handle:
        out = csv.writer(handle, lineterminator="\n")
        out.writerow(header)
        out.writerows(rows)


def safetensors(tensors: dict[str, bytes]) -> bytes:
    """A safetensors file of byte tensors: the length of its header, the header, their bytes."""
    header, end = {}, 0
    for name, content in tensors.items():
        header[name] = {"dtype": "U8", "shape": [len(content)], "data_offsets": [end, end + len(content)]}
        end += len(content)
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + b"".join(tensors.values())
