"""README.md of an export: a dataset card for the Hub. Every number in it is a mart's, or counted off the files."""

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import duckdb

from export.curves_index import EXCLUSIONS, deviations_of
from export.tables import escape, markdown_table, shown

TITLE = "# A campaign, exported by Seamline\n\nFILES.txt lists every file; `sha256sum -c SHA256SUMS` checks them.\n"
TAGS = ["reinforcement-learning", "llm-post-training", "training-curves", "seamline"]
SIZES = [
    (1_000, "n<1K"),
    (10_000, "1K<n<10K"),
    (100_000, "10K<n<100K"),
    (1_000_000, "100K<n<1M"),
    (10_000_000, "1M<n<10M"),
    (100_000_000, "10M<n<100M"),
]
_DEFAULT = ("all_arms_wide.csv", "manifest.csv", "tables/training_metrics.csv")


def card(
    warehouse: duckdb.DuckDBPyConnection,
    folder: Path,
    sections: Mapping[str, str],
    row_counts: Mapping[str, int],
    pictures: str = "",
) -> str:
    """The card of what lies below `folder`: front matter for the viewer, what to know first, each domain's section.

    `row_counts` are the rows of CSV files, as far as the marts tell.
    """
    from huggingface_hub import DatasetCardData

    paths = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    tables = [path for path in paths if path.endswith(".csv") and not path.startswith("records/")]
    rows = sum(row_counts.get(path, 0) for path in tables)
    shapes = configs(folder, tables)
    data = DatasetCardData(
        pretty_name="A campaign, exported by Seamline",
        tags=[*TAGS, *sections],
        size_categories=next((name for limit, name in SIZES if rows < limit), "n>100M"),
        configs=shapes or None,
    )
    body = [TITLE, _files(folder, paths), _caveats(warehouse), *sections.values(), pictures, _load(shapes)]
    return f"---\n{data.to_yaml()}\n---\n\n" + "\n".join(part for part in body if part)


def configs(folder: Path, tables: list[str]) -> list[dict[str, Any]]:
    """One viewer config for each table shape: the files with the same columns in the same order.

    Without them the viewer takes all CSV files for one table, and fails.
    """
    shapes: dict[tuple[str, ...], list[str]] = {}  # by place and columns
    for path in tables:
        with open(folder / path, newline="", encoding="utf-8") as handle:
            shapes.setdefault((path.split("/")[0], *next(csv.reader(handle), [])), []).append(path)
    default = next((path for path in _DEFAULT if path in tables), tables[0] if tables else None)
    found, taken = [], set()
    for files in shapes.values():
        top, _, rest = files[0].removesuffix(".csv").rpartition("/")
        is_whole = top and files == [path for path in tables if path.startswith(f"{top.split('/')[0]}/")]
        name = base = top.split("/")[0] if is_whole else "--".join(filter(None, [top.split("/")[0], rest]))
        number = 1
        while name in taken:
            number += 1
            name = f"{base}-{number}"
        taken.add(name)
        config: dict[str, Any] = {"config_name": name, "data_files": _globbed(files, tables)}
        found.append(config | ({"default": True} if default in files else {}))
    return sorted(found, key=lambda config: (not config.get("default"), config["config_name"]))


def _globbed(files: list[str], tables: list[str]) -> str | list[str]:
    """The files as one glob where one names just them, else as a list."""
    if len(files) == 1:
        return files[0]
    parent = Path(files[0]).parent
    for glob in (f"{parent}/*_turns.csv", f"{parent}/*.csv", f"{parent.parent}/*/*.csv"):
        if [path for path in tables if Path(path).match(glob)] == files:
            return glob
    return files


def _files(folder: Path, paths: list[str]) -> str:
    groups: dict[str, list[int]] = {}
    for path in paths:
        groups.setdefault(f"{path.split('/')[0]}/" if "/" in path else path, []).append((folder / path).stat().st_size)
    rows = [[f"`{name}`", shown(len(sizes)), shown(sum(sizes))] for name, sizes in sorted(groups.items())]
    return "\n".join(["## Files\n", markdown_table(["path", "files", "bytes"], rows)])


def _caveats(warehouse: duckdb.DuckDBPyConnection) -> str:
    """What was declared of this campaign, and what the build found, before anyone plots it."""
    lines = []
    for arm, steps in _rows(warehouse, "select arm, step_count from arms where is_running order by arm"):
        lines.append(f"- {escape(arm)} was still running: {shown(steps)} steps so far.")
    for arm, deviations in deviations_of(warehouse).items():
        for (key, value, recipe, affects, note), runs in deviations.items():
            effect = {True: "affects learning", False: "does not affect learning", None: "effect unknown"}[affects]
            lines.append(
                f"- {escape(arm)}: {escape(key)} is {escape(value)} where the recipe says {escape(recipe)}, in "
                f"{shown(len(runs))} runs ({effect}){f': {escape(note)}' if note else '.'}"
            )
    for run, arm, start, end, reason, _ in _rows(warehouse, EXCLUSIONS):
        what = " ".join(
            [
                *([f"run {escape(run)}"] if run else []),
                *([f"arm {escape(arm)}"] if arm else []),
                *([f"from {escape(start)}"] if start else []),
                *([f"until {escape(end)}"] if end else []),
            ]
        )
        lines.append(f"- Left out: {what} (UTC): {escape(reason)}")
    kinds = "select kind, finding_count, first_subject from finding_kinds where severity <> 'info' order by kind"
    for kind, count, first in _rows(warehouse, kinds):
        others = f" and {shown(count - 1)} more" if count > 1 else ""
        lines.append(f"- Finding `{kind}`: {escape(first)}{others}.")
    return "\n".join(["## Know before you use it\n", *lines, ""]) if lines else ""


def _load(shapes: list[dict[str, Any]]) -> str:
    if not shapes:
        return ""
    name = shapes[0]["config_name"]
    return (
        "## Load from the Hub\n\n```python\nfrom datasets import load_dataset\n\n"
        f'table = load_dataset("ORG/NAME", {name!r})  # one config for each table shape\n```\n'
    )


def _rows(warehouse: duckdb.DuckDBPyConnection, query: str) -> list[tuple]:
    return warehouse.execute(query).fetchall()
