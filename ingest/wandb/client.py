"""W&B's own client, held to time: what is asked of it, and what its failures mean.

Reads only what `scan_history` gives, never a sample of history. The cache of Parquet files is a fresh folder each time:
the client's own would answer with a history that has grown since, or with the body of an error.
"""

import os
import queue
import re
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from itertools import islice
from typing import Any, TypeVar

from homes.errors import SourceError

T = TypeVar("T")

QUERY_SECONDS = 120
"""How long one plain query may take, the client's own retries included (its default is 19)."""

SYSTEM_SAMPLES = 10_000_000
"""System metrics are only to be had as a sample of a given size: one that holds them all."""

_CHUNK_ROWS = 200
_RUNS_PER_PAGE = 50


@dataclass(frozen=True)
class ListedRun:
    """A run as a project's listing shows it. Counts and times are the server's own."""

    entity: str
    project: str
    run_id: str
    state: str | None = None
    history_line_count: int | None = None
    heartbeat_at: str | None = None
    created_at: str | None = None
    display_name: str | None = None
    group: str | None = None

    @property
    def path(self) -> str:
        return f"{self.entity}/{self.project}/{self.run_id}"


@contextmanager
def client_environment() -> Iterator[None]:
    """Sets where the client (imported later, in workers too) keeps its files: a folder that is gone afterwards.

    Logins stay where they are.
    """
    before = dict(os.environ)
    with tempfile.TemporaryDirectory(prefix="seamline-wandb-", ignore_cleanup_errors=True) as folder:
        own = dict.fromkeys(("WANDB_DIR", "WANDB_CACHE_DIR", "WANDB_DATA_DIR"), folder)
        os.environ.update(own | {"WANDB_SILENT": "true", "WANDB_ERROR_REPORTING": "false"})
        try:
            yield
        finally:
            os.environ.clear()
            os.environ.update(before)


def list_runs(entity: str, project: str, filters: dict[str, Any]) -> list[ListedRun]:
    """The runs of a project that `filters` (in the API's own words) let through."""
    # The client would ask for a key where stdin is a terminal.
    with explained_failures(f"{entity}/{project}"), open(os.devnull) as nobody:
        os.dup2(nobody.fileno(), 0)
        found = _api().runs(f"{entity}/{project}", filters=filters, per_page=_RUNS_PER_PAGE)
        return [
            ListedRun(
                entity,
                project,
                run.id,
                run.state,
                attribute(run, "historyLineCount"),
                attribute(run, "heartbeatAt"),
                attribute(run, "createdAt"),
                run.name,
                attribute(run, "group"),
            )
            for run in found
        ]


def open_run(path: str) -> Any:
    """The client's `Run`, asked anew: a client that has read a run before would answer with what it was."""
    with explained_failures(path):
        api = _api()
        api.flush()
        return api.run(path)


def attribute(run: Any, name: str) -> Any:
    """A field of a run as the API gave it when the run was last loaded; None for what it left out."""
    return run._attrs.get(name)


@cache
def _api() -> Any:
    import wandb

    return wandb.Api(timeout=QUERY_SECONDS)


def read_with_timeout(make: Callable[[], Iterable[T]], seconds: float, what: str) -> Iterator[T]:
    """What `make()` gives, read ahead a little in a thread; SourceError where nothing comes for `seconds`.

    The client itself would wait for ever.
    """
    handed: queue.Queue[tuple[list[T], BaseException | None, bool]] = queue.Queue(maxsize=4)
    is_over = threading.Event()

    def hand(chunk: list[T], failure: BaseException | None, is_last: bool) -> None:
        while not is_over.is_set():
            try:
                return handed.put((chunk, failure, is_last), timeout=0.2)
            except queue.Full:
                continue

    def run() -> None:
        try:
            items = (item for item in make())  # a scan begins anew whenever iter() is taken of it
            while chunk := list(islice(items, _CHUNK_ROWS)):
                hand(chunk, None, False)
            hand([], None, True)
        except BaseException as failure:
            hand([], failure, True)

    threading.Thread(target=run, daemon=True).start()
    try:
        is_last = False
        while not is_last:
            try:
                chunk, failure, is_last = handed.get(timeout=seconds)
            except queue.Empty:
                raise SourceError(
                    f"{what}: W&B sent nothing for {seconds:g} s; run the command again (what has landed is kept), or "
                    "give it longer with --timeout"
                ) from None
            yield from chunk
            if failure is not None:
                with explained_failures(what):
                    raise failure
    finally:
        is_over.set()


@contextmanager
def explained_failures(what: str) -> Iterator[None]:
    """Failures of the client inside become a SourceError that says what to do, without anything secret."""
    try:
        yield
    except SourceError:
        raise
    except Exception as error:
        raise SourceError(f"{what}: {_explain(error)}") from error


def _explain(error: Exception) -> str:
    text = _without_secrets(str(error) or type(error).__name__)
    kind = type(error).__name__
    lowered = text.lower()
    if kind in ("AuthenticationError", "UsageError") or "401" in text or "api key" in lowered:
        return f"W&B does not know who asks ({text}); log in with `wandb login`, or set WANDB_API_KEY"
    if "403" in text or "permission" in lowered:
        return f"your W&B login may not read this ({text}); ask its owner, or log in as someone who may"
    if "could not find" in lowered or "404" in text:
        return f"W&B has no such thing ({text}); check the name, and that your login may read it"
    return f"W&B did not answer as it should ({text}); run the command again: what has landed is kept"


def _without_secrets(text: str) -> str:
    """The text on one line, without what signs a URL and without the key in use."""
    text = re.sub(r"(https?://[^\s?\"']+)\?[^\s\"']*", r"\1", " ".join(text.split()))
    key = os.environ.get("WANDB_API_KEY")
    return text.replace(key, "***") if key else text
