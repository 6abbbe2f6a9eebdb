"""Opening a home: made where missing, recovered after a kill, held by one command at a time."""

import contextlib
import fcntl
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from homes.errors import HomeError
from homes.paths import PROJECT, Home, find_home


@contextlib.contextmanager
def open_home(path: Path | None) -> Iterator[Home]:
    """The home, made where missing, recovered after a kill, and held alone until the block ends.

    Raises HomeError where it can't be written or another seamline command is using it.
    """
    home = find_home(path)
    try:
        home.path.mkdir(parents=True, exist_ok=True)
        lock = open(home.path / ".lock", "a+")  # noqa: SIM115 - held until the block ends
    except OSError as error:
        raise HomeError(f"{home.path}: can't be used as a home ({error.strerror}); name another with --home") from error
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            lock.seek(0)
            holder = lock.read().strip() or "unknown"
            raise HomeError(
                f"{home.path}: another seamline command (process {holder}) is using this home; wait for it to end"
            ) from error
        lock.truncate(0)
        lock.write(str(os.getpid()))
        lock.flush()
        init(home)
        yield home


def init(home: Home) -> list[Path]:
    """Make what is missing of a home: empty landing tables, declared/ copied from seeds/. Overwrites nothing.

    Returns the declared files it made.
    """
    from homes.landing import make_empty_tables, recover

    home.declared.mkdir(parents=True, exist_ok=True)
    home.exports.mkdir(exist_ok=True)
    recover(home)
    make_empty_tables(home)
    made = []
    for seed in sorted((PROJECT / "seeds").glob("*.csv")):
        target = home.declared / seed.name
        if not target.exists():
            aside = target.with_suffix(".csv.new")
            shutil.copyfile(seed, aside)
            aside.replace(target)
            made.append(target)
    return made
