"""`seamline simulate`: a whole campaign in its upstream formats, with the truth beside it."""

import shutil
from pathlib import Path

from simulate import curves
from warehouse.errors import SeamlineError

MARK = ".seamline-simulation"
"""A file that says a folder holds a simulation, so that a new one may replace it."""

DOMAINS = [curves.write]
"""Each writes its upstream files, `declared/` and `truth/` below the folder, from (folder, scale, seed)."""


def simulate(folder: Path, scale: str = "small", seed: int = 0) -> None:
    """Write a campaign below `folder`, replacing an earlier simulation there. Same scale and seed, same bytes.

    Raises SeamlineError where the scale is none, or where the folder holds anything but a simulation.
    """
    if scale not in ("small", "card") and not (scale.isascii() and scale.isdigit() and int(scale) > 0):
        raise SeamlineError(f"scale {scale!r}: say small, card or a number of arms")
    if folder.exists() and not folder.is_dir():
        raise SeamlineError(f"{folder}: a file; name a folder to write the simulation to")
    if folder.is_dir() and any(folder.iterdir()) and not (folder / MARK).exists():
        raise SeamlineError(f"{folder}: not empty, and no earlier simulation; name a new folder")
    aside = folder.with_name(f".{folder.name}.new")
    shutil.rmtree(aside, ignore_errors=True)
    try:
        aside.mkdir(parents=True)
        (aside / MARK).write_text(f"scale {scale}, seed {seed}\n")
        for write in DOMAINS:
            write(aside, scale, seed)
        shutil.rmtree(folder, ignore_errors=True)
        aside.rename(folder)
    except OSError as error:
        raise SeamlineError(f"{error.filename or folder}: can't be written ({error.strerror})") from error
