"""What every reader shares: find out which sources are new, land those in parallel, say what happened."""

import hashlib
import multiprocessing
import os
import sys
import uuid
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NoReturn, ParamSpec, TypeVar

from homes.console import progress, warn
from homes.errors import HomeError, SourceError
from homes.landing import QUARANTINE, Batches, Source, commit, forget, is_outdated, land, landed, recover, write_aside
from homes.names import file_stem, short_digest
from homes.paths import Home
from ingest.sources import KINDS

T = TypeVar("T")
R = TypeVar("R")
P = ParamSpec("P")

Cluster = Callable[[Callable[[T], R], list[T]], Iterable[R]]
"""Maps a function over items on other machines, which share the home's file system; results in the items' order."""


@dataclass
class Outcome:
    """What one `seamline ingest` did. Counts are sources; `rows` counts landed rows by table."""

    kind: str
    landed: int = 0
    unchanged: int = 0
    copies: int = 0
    rows: dict[str, int] = field(default_factory=dict)

    @property
    def quarantined(self) -> int:
        return self.rows.get(QUARANTINE, 0)

    def add(self, other: "Outcome") -> None:
        """Count in another outcome of the same kind."""
        self.landed += other.landed
        self.unchanged += other.unchanged
        self.copies += other.copies
        for table, count in other.rows.items():
            self.rows[table] = self.rows.get(table, 0) + count

    def line(self) -> str:
        parts = [f"{self.landed} landed", f"{self.unchanged} unchanged"]
        if self.copies:
            parts.append(f"{self.copies} copies of a landed source")
        text = f"{self.kind}: " + ", ".join(parts)
        rows = {t: n for t, n in self.rows.items() if t not in (QUARANTINE, "landed_sources")}
        return text + "".join(f"\n  {table}: {count:,} rows" for table, count in sorted(rows.items()))


def file_digest(path: Path) -> str:
    """SHA-256 of the content of `path`."""
    with open(path, "rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def file_source(kind: str, path: Path, note: str = "") -> Source:
    """The source that is one file, named by its path: for formats that do not name themselves.

    `note` is what a reader was asked for beside the path (the id of the run, say): another note, another content.
    """
    path = path.resolve()
    digest = file_digest(path)
    if note:
        digest = hashlib.sha256(f"{digest} {note}".encode()).hexdigest()
    return Source(kind, source_name(kind, path), str(path), digest, path.stat().st_size)


def source_name(kind: str, path: Path) -> str:
    """The name of a source that is one file, from its resolved path."""
    return f"{file_stem(path.name)}-{short_digest(f'{kind}:{path}')}"


def ingest(
    home: Home,
    kind: str,
    items: Iterable[T],
    identify: Callable[[T], Source],
    read: Callable[[Source], Batches],
    workers: int | None = None,
    cluster: Cluster | None = None,
) -> Outcome:
    """Land each source that is new or changed; of several copies of one source (same name) the largest counts.

    What another version of the kind's reader landed, or with other columns than the tables have now, is read again.

    `items` are what `identify` knows sources from: paths, for most. `identify` and `read` run in worker processes, or
    on the `cluster`, so they are module-level functions (or partials of them). A source whose path was landed under
    another name before (a log that had not yet named its run) replaces that landing.
    """
    outcome = Outcome(kind)
    known = {name: s for name, s in landed(home).items() if s.kind == kind}
    workers = workers or os.cpu_count() or 1
    items = list(items)
    found = cluster(identify, items) if cluster else _in_parallel(identify, items, workers, f"looking at {kind}")
    best: dict[str, Source] = {}
    for source in sorted(found, key=lambda s: (-s.size_bytes, s.path)):
        if source.name in best:
            outcome.copies += 1
        else:
            best[source.name] = replace(source, reader_version=KINDS[kind].reader_version)
    todo = []
    for source in best.values():
        before = known.get(source.name)
        if (
            before is None
            or before.reader_version != source.reader_version
            or is_outdated(home, before, opens_files=True)
        ):
            todo.append(source)
        elif before.digest == source.digest:
            outcome.unchanged += 1
        elif before.path != source.path and before.size_bytes >= source.size_bytes:
            outcome.copies += 1
        else:
            todo.append(source)
    names = {s.path: s.name for s in best.values()}
    for stale in [s for s in known.values() if names.get(s.path, s.name) != s.name]:
        forget(home, stale.name)
    jobs = [_Job(home, source, read) for source in todo]
    failures = []
    landing = _land_on(cluster, home, jobs) if cluster else _in_parallel(_Job.run, jobs, workers, f"landing {kind}")
    for counts in landing:
        if isinstance(counts, SourceError):
            failures.append(counts)
            continue
        outcome.add(Outcome(kind, landed=1, rows=counts))
    if outcome.quarantined:
        warn(f"{outcome.quarantined} {kind} records could not be read; `seamline status` shows where and why")
    if failures:
        _raise(failures, outcome.landed)
    return outcome


def _raise(failures: list[SourceError], landed_count: int) -> NoReturn:
    """Raise the first failure, and say how many others there were: one bad source does not keep out the rest."""
    first = min(failures, key=str)
    others = f" ({len(failures) - 1} other sources failed; {landed_count} landed)" if len(failures) > 1 else ""
    raise SourceError(f"{first}{others}") from first


@dataclass
class _Job:
    home: Home
    source: Source
    read: Callable[[Source], Batches]

    def run(self) -> dict[str, int] | SourceError:
        try:
            return land(self.home, self.source, self.read(self.source))
        except SourceError as error:
            return error

    def write_aside(self) -> tuple[str, dict[str, int]] | SourceError:
        """The name of a folder in staging that no other attempt at this source writes to, and its rows by table."""
        folder = f"{self.source.name}.{uuid.uuid4().hex}"
        try:
            return folder, write_aside(self.home.staging / folder, self.source, self.read(self.source))
        except SourceError as error:
            return error


def _land_on(cluster: Cluster, home: Home, jobs: list[_Job]) -> Iterator[dict[str, int] | SourceError]:
    """Tasks write aside, and only what the cluster reports as a task's result is committed, here: of a task that was
    killed, or ran twice, the other folders are forgotten."""
    try:
        for job, written in zip(jobs, cluster(_Job.write_aside, jobs), strict=True):
            if isinstance(written, SourceError):
                yield written
                continue
            folder, counts = written
            if not (home.staging / folder).is_dir():
                raise HomeError(
                    f"{home.staging / folder}: written on the cluster, and not to be seen from here; "
                    "the home must lie on a file system that the whole cluster shares, under the same path"
                )
            commit(home, home.staging / folder, job.source, counts)
            yield counts
    finally:
        recover(home)


def in_own_process(work: Callable[P, R], *arguments: P.args, **named: P.kwargs) -> R:
    """What `work` returns, done in a process of its own."""
    with ProcessPoolExecutor(1, mp_context=_context()) as pool:
        return pool.submit(work, *arguments, **named).result()


def _context() -> multiprocessing.context.BaseContext:
    return multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")


def _in_parallel(work: Callable[[T], R], items: list[T], workers: int, what: str) -> list[R]:
    """The results in any order. One process where one is enough; workers are forked where that is safe (Linux)."""
    if min(workers, len(items)) <= 1:
        return [work(item) for item in progress(items, what)]
    with ProcessPoolExecutor(min(workers, len(items)), mp_context=_context()) as pool:
        futures = [pool.submit(work, item) for item in items]
        try:
            return [future.result() for future in progress(as_completed(futures), what, len(futures))]
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def expand(paths: Iterable[str], looked_for: str, matches: Callable[[Path], bool]) -> list[Path]:
    """The files that `matches` accepts among `paths`: each a file (taken as it is), a folder (searched) or a glob.

    Links that lead back into a folder already searched are not followed twice. Raises SourceError for a path that does
    not exist and where nothing was found.
    """
    import glob

    found: dict[Path, None] = {}
    for text in paths:
        given = [Path(text)] if Path(text).exists() else [Path(p) for p in sorted(glob.glob(text, recursive=True))]
        if not given:
            raise SourceError(f"{text}: no such file or folder; check the path")
        for path in given:
            if path.is_dir():
                found |= dict.fromkeys(file.resolve() for file in _walk(path) if matches(file))
            else:
                found[path.resolve()] = None
    if not found:
        raise SourceError(f"{', '.join(paths)}: nothing to ingest; looked for {looked_for}")
    return list(found)


def _walk(folder: Path) -> Iterable[Path]:
    seen = set()
    for base, folders, files in os.walk(folder, followlinks=True):
        real = os.path.realpath(base)
        if real in seen:
            folders.clear()
            continue
        seen.add(real)
        folders.sort()
        for name in sorted(files):
            yield Path(base, name)
