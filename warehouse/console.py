"""What goes to stderr: progress bars (where it is a terminal) and warnings."""

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")


def progress(items: Iterable[T], what: str, total: int | None = None) -> Iterator[T]:
    """The items, with a progress bar on stderr where that is a terminal."""
    if not sys.stderr.isatty():
        yield from items
        return
    from rich.console import Console
    from rich.progress import track

    yield from track(items, description=what, total=total, console=Console(stderr=True), transient=True)


@contextmanager
def counting(what: str, is_shown: bool = True) -> Iterator[Callable[[int], None]]:
    """A function to call with the total whenever one thing is done; draws a progress bar where stderr is a terminal."""
    if not (is_shown and sys.stderr.isatty()):
        yield lambda total: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=None)
        yield lambda total: bar.update(task, advance=1, total=total)


def warn(message: str) -> None:
    """One line on stderr."""
    print(f"warning: {message}", file=sys.stderr)
