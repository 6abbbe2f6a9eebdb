"""`seamline simulate`: a whole campaign in its upstream formats, with the truth beside it."""

import shutil
from pathlib import Path

from homes.errors import SeamlineError
from simulate.checkpoints import write as checkpoints
from simulate.curves import write as curves
from simulate.rollouts import write as rollouts
from simulate.rounds import write as rounds
from simulate.shapes import write as shapes

MARK = ".seamline-simulation"
"""A file that lists what a simulation wrote into its folder, so that a new one may replace just that."""

DOMAINS = [curves.write, rollouts.write, rounds.write, checkpoints.write]
"""Each writes its upstream files, `declared/` and `truth/` below the folder, from (folder, scale, seed)."""

PARTIAL = {"bench": [rollouts.write], "shapes": [shapes.write]}
"""What there is at scales that are no whole campaign."""


def simulate(folder: Path, scale: str = "small", seed: int = 0) -> None:
    """Write a campaign below `folder`, replacing an earlier simulation there. Same scale and seed, same bytes.

    At the scale bench there are only rollouts, as long as real ones; at the scale shapes only W&B logs, of every shape
    of restart, axis and name that the stitch must tell apart.

    Raises SeamlineError where the scale is none, or where the folder holds anything but a simulation.
    """
    if scale not in ("small", "card", *PARTIAL) and not (scale.isascii() and scale.isdigit() and int(scale) > 0):
        raise SeamlineError(f"scale {scale!r}: say small, card, shapes, bench or a number of arms")
    if folder.exists() and not folder.is_dir():
        raise SeamlineError(f"{folder}: a file; name a folder to write the simulation to")
    _check_replaceable(folder)
    aside = folder.with_name(f".{folder.name}.new")
    try:
        shutil.rmtree(aside, ignore_errors=True)
        aside.mkdir(parents=True)
        for write in PARTIAL.get(scale, DOMAINS):
            write(aside, scale, seed)
        (aside / MARK).write_text("".join(f"{path.name}\n" for path in sorted(aside.iterdir())))
        shutil.rmtree(folder, ignore_errors=True)
        aside.rename(folder)
    except OSError as error:
        raise SeamlineError(f"{error.filename or folder}: can't be written ({error.strerror})") from error


def _check_replaceable(folder: Path) -> None:
    """Raise SeamlineError where the folder holds anything that no simulation wrote."""
    found = {path.name for path in folder.iterdir()} if folder.is_dir() else set()
    if not found:
        return
    if MARK not in found:
        raise SeamlineError(f"{folder}: not empty, and no earlier simulation; name a new folder")
    others = sorted(found - {MARK} - set((folder / MARK).read_text().split("\n")))
    if others:
        raise SeamlineError(f"{folder}: holds {others[0]!r} beside an earlier simulation; move it away or name another")
