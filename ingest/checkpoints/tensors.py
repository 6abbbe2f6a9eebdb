"""Reader of safetensors files: what tensors a file holds, and a digest of each. Weights are never loaded or unpickled.

Framing (https://huggingface.co/docs/safetensors): 8 bytes with the length of the header, little endian; the header, a
JSON object of name -> {dtype, shape, data_offsets}; the tensors' bytes. Offsets count from the end of the header.
"""

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from ingest.formats.json_values import json_object, object_items
from ingest.formats.values import Unreadable, as_integer, as_name

_LONGEST_HEADER = 100_000_000
"""The format's own limit."""
_PIECE_BYTES = 16_384
_POINTER = b"version https://git-lfs.github.com/spec/"


def read_tensors(folder_idx: int, file_name: str, path: Path) -> Iterator[dict[str, Any]]:
    """Rows of checkpoint_tensors of one file. Raises Unreadable where it is no whole safetensors file; yields nothing
    for the pointer that Git LFS leaves in place of a file."""
    size = path.stat().st_size
    with open(path, "rb") as handle:
        start = handle.read(8)
        if _POINTER.startswith(start) and start:
            return
        length = int.from_bytes(start, "little")
        if len(start) < 8 or length > min(_LONGEST_HEADER, size - 8):
            raise Unreadable(f"no safetensors header in {size} bytes")
        header = json_object(handle.read(length))
        for name, told in sorted(header.items()):
            if name != "__metadata__":
                yield {"folder_idx": folder_idx, "file_name": file_name, "tensor_name": name} | _tensor(
                    handle, 8 + length, size, name, told
                )


def _tensor(handle: BinaryIO, base: int, size: int, name: str, told: Any) -> dict[str, Any]:
    fields = object_items(told)
    offsets, shape = fields.get("data_offsets"), fields.get("shape")
    numbers = [as_integer(n) for n in offsets] if isinstance(offsets, list) else []
    if len(numbers) != 2 or numbers[0] is None or numbers[1] is None or not 0 <= numbers[0] <= numbers[1]:
        raise Unreadable(f"tensor {name} has no place in the file")
    first, last = base + numbers[0], base + numbers[1]
    if last > size:
        raise Unreadable(f"cut short: tensor {name} ends at byte {last}, the file at {size}")
    return {
        "dtype": as_name(fields.get("dtype")),
        "shape": ",".join(str(n) for n in shape) if isinstance(shape, list) else None,
        "size_bytes": last - first,
        "digest": _digest(handle, first, last),
        "is_sampled": last - first > 3 * _PIECE_BYTES,
    }


def _digest(handle: BinaryIO, first: int, last: int) -> str:
    """SHA-256 of a tensor's bytes; of a large one, of a piece at its start, in its middle and at its end."""
    digest = hashlib.sha256()
    size = last - first
    if size <= 3 * _PIECE_BYTES:
        places, length = [first], size
    else:
        places, length = [first, first + (size - _PIECE_BYTES) // 2, last - _PIECE_BYTES], _PIECE_BYTES
    for place in places:
        handle.seek(place)
        digest.update(handle.read(length))
    return digest.hexdigest()
