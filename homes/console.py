"""What a person at a terminal sees: progress bars and warnings on stderr, tables on stdout."""

import os
import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
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


@contextmanager
def quiet_interrupts() -> Iterator[None]:
    """Ctrl-C ends the process with exit code 130 and no traceback, whatever libraries in between make of it.

    They turn it into errors of their own, print it, or swallow it. A second Ctrl-C does not wait for anybody.
    """
    is_interrupted = False

    def on_interrupt(*_) -> None:
        nonlocal is_interrupted
        if is_interrupted:
            os._exit(130)
        is_interrupted = True
        raise KeyboardInterrupt

    def on_unraisable(unraisable) -> None:
        if is_interrupted:
            os._exit(130)
        sys.__unraisablehook__(unraisable)

    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, on_interrupt)
    sys.unraisablehook = on_unraisable
    try:
        yield
    except BaseException:
        if not is_interrupted:
            raise
    if is_interrupted:
        sys.exit(130)


def warn(message: str) -> None:
    """One line on stderr."""
    print(f"warning: {message}", file=sys.stderr)


def table(title: str | None, header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table on stdout: drawn on a terminal, else lines of tab-separated cells. A title alone says `none`."""
    rows = [[" ".join(text.split()) for text in row] for row in rows]
    if not rows and title:
        print(f"{title}: none")
    elif sys.stdout.isatty():
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        drawn = Table(title=title, title_justify="left")
        for name in header:
            drawn.add_column(Text(name), overflow="fold")
        for row in rows:
            drawn.add_row(*map(Text, row))
        Console().print(drawn)
    else:
        print("\n".join(["\t".join(header), *("\t".join(row) for row in rows)]))
