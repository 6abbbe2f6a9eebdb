"""`seamline status`: what has landed, what is quarantined, what was built, what is stale. No lock, no change."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypedDict

from homes.console import table
from homes.errors import HomeError
from homes.outdated import outdated, what_is_outdated
from homes.paths import Home
from homes.warehouse import connect

SHOWN_RECORDS = 20
Row = dict[str, Any]
"""A row of `landed_sources` or of `builds`, by column."""


class KindLanded(TypedDict):
    """What has landed of one kind of source."""

    kind: str
    source_count: int
    row_count: int
    size_bytes: int
    quarantined_count: int
    last_landed_at: str


class Status(TypedDict):
    """The answer of `status`."""

    home: str
    landed: list[KindLanded]
    quarantined: list[dict[str, str]]
    outdated: list[dict[str, str]]
    build: Row | None
    build_problem: str | None
    stale: dict[str, list[str]] | None
    next: str | None


def status(home: Home) -> Status:
    """The home's state, ready for JSON (times are UTC, ISO 8601; null is unknown).

    `landed`: sources and rows by kind. `quarantined`: every record that could not be read. `outdated`: sources that
    another version landed, to be read again. `build`: the last one, null before the first. `stale`: what changed since
    it began; null where there is no build to compare with.
    """
    sources, records = _landed(home)
    build, problem = _last_build(home)
    old = outdated(home)
    return {
        "home": str(home.path),
        "landed": _by_kind(sources),
        "quarantined": records,
        "outdated": [{"kind": source.kind, "source": source.path} for source in old],
        "build": build,
        "build_problem": problem,
        "stale": _stale(home, sources, build) if build else None,
        "next": _next(home, sources, what_is_outdated(old) or problem, build),
    }


def _landed(home: Home) -> tuple[list[Row], list[dict[str, str]]]:
    """Rows of `landed_sources`, and quarantined records with the path of their source."""
    import pyarrow.parquet as pq

    tables = {}
    for name in ("landed_sources", "quarantine"):
        files = sorted(home.table(name).glob("*.parquet")) if home.table(name).is_dir() else []
        tables[name] = [row for file in files for row in pq.ParquetFile(file).read().to_pylist()]
    sources = {row["source_name"]: row for row in tables["landed_sources"]}
    records = [
        {
            "kind": sources[row["source_name"]]["kind"],
            "source": sources[row["source_name"]]["path"],
            "locator": row["locator"],
            "reason": row["reason"],
        }
        for row in tables["quarantine"]
        if row["source_name"] in sources
    ]
    return list(sources.values()), sorted(records, key=lambda r: (r["kind"], r["source"]))


def _by_kind(sources: list[Row]) -> list[KindLanded]:
    kinds: dict[str, list[Row]] = {}
    for source in sources:
        kinds.setdefault(source["kind"], []).append(source)
    return [
        {
            "kind": kind,
            "source_count": len(of_kind),
            "row_count": sum(s["row_count"] for s in of_kind),
            "size_bytes": sum(s["size_bytes"] for s in of_kind),
            "quarantined_count": sum(s["quarantined_count"] for s in of_kind),
            "last_landed_at": max(s["landed_at"] for s in of_kind).isoformat(timespec="seconds"),
        }
        for kind, of_kind in sorted(kinds.items())
    ]


def _last_build(home: Home) -> tuple[Row | None, str | None]:
    """The last build as the warehouse itself records it, and why it can't be told where it can't."""
    if not home.warehouse.exists():
        return None, None
    import duckdb

    try:
        with connect(home) as warehouse:
            found = warehouse.execute("select * from builds.builds order by started_at desc limit 1")
            row = found.fetchone()
            names = [column[0] for column in found.description]
    except HomeError as error:
        return None, str(error)
    except duckdb.CatalogException:
        return None, None
    if row is None:
        return None, None
    build = dict(zip(names, row, strict=True))
    return {k: v.isoformat() if isinstance(v, datetime) else v for k, v in build.items()}, None


def _stale(home: Home, sources: list[Row], build: Row) -> dict[str, list[str]]:
    """Sources and declared files that are newer than the build's beginning."""
    began = datetime.fromisoformat(str(build["started_at"]))
    return {
        "sources": sorted(s["path"] for s in sources if s["landed_at"] > began),
        "declared": sorted(str(path) for path in home.declared.glob("*.csv") if _changed(path) > began),
    }


def _changed(path: Path) -> datetime:
    return datetime.fromtimestamp(path.stat().st_mtime, UTC).replace(tzinfo=None)


def _next(home: Home, sources: list[Row], problem: str | None, build: Row | None) -> str | None:
    """What to do next; null where nothing is to be done."""
    if not sources:
        return "nothing has landed: `seamline ingest FOLDER` lands what it knows, `seamline demo` a made-up campaign"
    if problem:
        return problem
    if not build:
        return "not built yet: run `seamline build`"
    if build["ended_at"] is None:
        return "the last build did not end: run `seamline build`"
    if any(_stale(home, sources, build).values()):
        return "what is built is stale: run `seamline build`"
    if build["error_count"]:
        return f"the last build failed: see {home.path / 'logs' / 'dbt.log'}, then run `seamline build`"
    return None


def show(home: Home, as_json: bool, all_records: bool) -> None:
    """Print the status: JSON, else tables (lines of tab-separated cells where stdout is no terminal)."""
    state = status(home)
    if as_json:
        print(json.dumps(state, indent=2))
        return
    print(f"home: {state['home']}")
    kinds = []
    for k in state["landed"]:
        counts = (k["source_count"], k["row_count"], k["size_bytes"], k["quarantined_count"])
        kinds.append([k["kind"], *(f"{count:,}" for count in counts), k["last_landed_at"].replace("T", " ")])
    table("landed", ["kind", "sources", "rows", "bytes", "quarantined", "last landed (UTC)"], kinds)
    records = state["quarantined"]
    shown = records if all_records else records[:SHOWN_RECORDS]
    table("quarantined", ["kind", "source", "where", "reason"], [list(r.values()) for r in shown])
    if len(shown) < len(records):
        print(f"... and {len(records) - len(shown)} more: `seamline status --all` lists every record")
    for source in state["outdated"] if all_records else ():
        print(f"landed by another version: {source['kind']} {source['source']}")
    build = state["build"]
    if build:
        began, ended = (str(build[at] or "never")[:19].replace("T", " ") for at in ("started_at", "ended_at"))
        when = f"began {began}, ended {ended} (UTC)"
        came = ", ".join(f"{build[f'{c}_count'] or 0} {c}" for c in ("built", "pass", "warn", "error", "skipped"))
        print(f"last build: {when}: {came}")
    for kind, paths in (state["stale"] or {}).items():
        for path in paths[:SHOWN_RECORDS]:
            print(f"changed since: {path}")
        if len(paths) > SHOWN_RECORDS:
            print(f"... and {len(paths) - SHOWN_RECORDS} more {kind}")
    if state["next"]:
        print(f"next: {state['next']}")
