"""`seamline ingest wandb`: logs, exported histories and the API of Weights & Biases."""

import re
from collections.abc import Set
from datetime import datetime
from functools import partial
from pathlib import Path

import pyarrow.parquet as pq

from homes.errors import SourceError
from homes.landing import QUARANTINE, Batches, Source, landed
from homes.paths import Home
from ingest.formats.heads import head, is_blank, keys_in
from ingest.run import Outcome, expand, ingest
from ingest.wandb.api import TARGET, Choice, ingest_project
from ingest.wandb.chart import Chart, charts, is_chart, read_chart
from ingest.wandb.csv_items import read_header
from ingest.wandb.export import BESIDE, HISTORIES, SUFFIXES, export_source, find_run, read_export
from ingest.wandb.log import log_source, read_log

_LOOKED_FOR = (
    "*.wandb logs, history.csv|json|jsonl, by-run/<arm>/<run_id>.csv, "
    "and CSV or JSON exports with W&B's columns (_step and _timestamp, or chart exports)"
)
_SNIFFED_BYTES = 1 << 16
_COLUMNS = {"_step", "_timestamp", "_runtime", "_log_id"}
"""W&B's own, and that of this project's by-run files."""
_RUN_FOLDER = re.compile(r"(offline-)?run-\d{8}_\d{6}-")


def ingest_wandb(
    home: Home,
    sources: list[str],
    run_id: str | None = None,
    workers: int | None = None,
    choice: Choice | None = None,
) -> Outcome:
    """Land every log and exported history found in `sources` (folders, files, globs), and runs of ENTITY/PROJECT.

    An existing path is never taken for a project; `choice` says which runs of a project. `run_id` names the run of an
    exported history that does not name it itself. Raises SourceError where nothing is found, where an export given by
    itself names no run, and where nothing at all could be read of a file given by itself.
    """
    targets = [text for text in sources if not Path(text).exists() and TARGET.fullmatch(text)]
    files = [text for text in sources if text not in targets]
    outcome = _ingest_files(home, files, run_id, workers) if files else Outcome("wandb")
    for target in targets:
        outcome.add(ingest_project(home, target, choice or Choice(), workers))
    return outcome


def ingest_chosen(
    home: Home,
    sources: list[str],
    run_id: str | None = None,
    group: str | None = None,
    since: datetime | None = None,
    run: list[str] | None = None,
    timeout: float = 600.0,
) -> Outcome:
    """`ingest_wandb` with the command's own options: which runs of a project, and how many seconds to wait for one."""
    moment = f"{since:%Y-%m-%dT%H:%M:%SZ}" if since else None
    return ingest_wandb(home, sources, run_id, choice=Choice(group, moment, tuple(run or ()), timeout))


def _ingest_files(home: Home, sources: list[str], run_id: str | None, workers: int | None) -> Outcome:
    paths = expand(sources, _LOOKED_FOR, is_wandb_file)
    logs = [path for path in paths if _is_log(path)]
    chart_files = {path for path in paths if not _is_log(path) and is_chart(path)}
    exports = [path for path in paths if not _is_log(path) and path not in chart_files]
    beside = {file for path in chart_files for file in path.parent.glob("*.csv") if is_chart(file)}
    found = charts(sorted(chart_files | {file.resolve() for file in beside}), run_id)
    if run_id and len(exports) + len(found) != 1:
        raise SourceError(f"--run-id names one run, but there are {len(exports) + len(found)} exported histories")
    alone = [Path(text).resolve() for text in sources if Path(text).is_file()]
    for path in exports:
        if path in alone:
            _refuse_unclear(path, run_id)
    by_path = {chart.source().path: chart for chart in found}
    items: list[Path | Chart] = [*logs, *exports, *found]
    outcome = ingest(
        home, "wandb", items, partial(_identify, run_id=run_id), partial(_read, run_id=run_id, charts=by_path), workers
    )
    if len(alone) == len(sources) == 1:
        _refuse_unread(home, alone[0])
    return outcome


def _identify(item: Path | Chart, run_id: str | None) -> Source:
    if isinstance(item, Chart):
        return item.source()
    return log_source(item) if _is_log(item) else export_source(item, run_id)


def _read(source: Source, run_id: str | None, charts: dict[str, Chart]) -> Batches:
    if source.path in charts:
        return read_chart(charts[source.path])
    path = Path(source.path)
    return read_log(source) if _is_log(path) else read_export(source, run_id)


def _is_log(path: Path) -> bool:
    return path.suffix not in SUFFIXES


def is_wandb_file(file: Path) -> bool:
    """Whether a file met in a folder is W&B's: by its name, else (tables) by the columns it starts with."""
    if file.suffix == ".wandb":
        return True
    if file.suffix not in SUFFIXES or file.stem in BESIDE or not file.is_file():
        return False
    if file.stem in HISTORIES or (file.suffix == ".csv" and file.parent.parent.name == "by-run"):
        return _may_be_history(file)
    if file.suffix == ".csv":
        return {"_step", "_timestamp"} <= set(read_header(file)[0]) or (is_chart(file) and _has_bounds(file))
    with open(file, "rb") as handle:
        start = handle.read(_SNIFFED_BYTES).lstrip(b"\xef\xbb\xbf \r\n\t")
    is_rows = start.startswith(b"{" if file.suffix == ".jsonl" else b"[")
    return is_rows and b'"_step"' in start and b'"_timestamp"' in start


def _may_be_history(file: Path) -> bool:
    """Whether a table that is named or placed as a history has a column of W&B's, or a note beside it, or nothing."""
    start = head(file)
    names = set(read_header(file)[0]) if file.suffix == ".csv" and start else keys_in(start)
    is_described = any((file.parent / f"{stem}{suffix}").is_file() for stem in BESIDE for suffix in SUFFIXES)
    return is_blank(start) or is_described or not names.isdisjoint(_COLUMNS)


def is_beside(file: Path, folders: Set[Path]) -> bool:
    """Whether a file was written with a source in one of these folders: in the folder that the SDK makes of a run, or
    what says more of an exported history."""
    if file.suffix in SUFFIXES and file.stem in BESIDE and file.parent in folders:
        return True
    return any(folder in folders and _RUN_FOLDER.match(folder.name) for folder in file.parents)


def _has_bounds(file: Path) -> bool:
    return any(name.endswith("__MIN") for name in read_header(file)[0])


def _refuse_unclear(path: Path, run_id: str | None) -> None:
    """Raise SourceError for a file given by itself that is no history, or names no run."""
    if path.stem in BESIDE:
        raise SourceError(f"{path}: is read with the history beside it; give that history, or the folder")
    if find_run(path, run_id).facts.run_id is None:
        raise SourceError(
            f"{path}: which run this is can't be told; put a run.json with its id beside it, or name it with --run-id"
        )


def _refuse_unread(home: Home, path: Path) -> None:
    """Raise SourceError where all that landed of a file is its quarantine."""
    for source in landed(home).values():
        if source.path == str(path) and not (home.table("history_logs") / f"{source.name}.parquet").exists():
            rows = pq.read_table(home.table(QUARANTINE) / f"{source.name}.parquet", partitioning=None).to_pylist()
            raise SourceError(f"{path}: nothing in it could be read: {rows[0]['locator']}: {rows[0]['reason']}")
