"""Exports curves: one CSV per arm, one per run, one of all arms, and INDEX.md, which tells how each came to be."""

from collections.abc import Iterable, Iterator
from pathlib import Path

import duckdb
import numpy as np

from export.curves_index import index, readme_section
from export.tables import number_sql, quoted_sql, write_csv
from export.wide import Wide, lines, quote, wide_files, write_lines
from homes.names import file_stems

LEADS = ("training_step", "position", "run_id")
AUDIT = ("_log_id", "_row_idx", "_drop_reason", "_position_source", "_training_step")
"""Seamline's own columns of a by-run file. They start with `_`, so that the file read again has no metric more."""

CURVE_ROWS = f"""
    select
        arm as file,
        training_step - 1 as row_idx,
        training_step || ',' || {number_sql("position")} || ',' || {quoted_sql("run_id")} as lead
    from arm_steps
"""
CURVE_CELLS = "select arm as file, training_step - 1 as row_idx, metric as name, value, value_text from arm_metrics"

RUN_ROWS = f"""
    select
        run_id as file,
        file_row_idx as row_idx,
        {quoted_sql("log_id")} || ',' || row_idx || ',' || coalesce(drop_reason, '') || ','
        || coalesce(position_source, '') || ',' || coalesce(cast(training_step as varchar), '') as lead
    from run_file_rows
"""
RUN_CELLS = f"""
    select run_id as file, file_row_idx as row_idx, heading as name, value, value_text
    from run_file_values
    where heading not in {AUDIT}
"""


def write(warehouse: duckdb.DuckDBPyConnection, folder: Path, profile: str) -> str:
    """Write the curves' files; returns the README section, or an empty text where no run has landed."""
    arms = [arm for (arm,) in warehouse.execute("select arm from arms order by arm").fetchall()]
    if not arms:
        return ""
    stems = file_stems(arms)
    curves = _write_curves(warehouse, folder, stems)
    runs = _write_runs(warehouse, folder, stems)
    table = warehouse.execute("select * from arms order by arm")
    header = [column[0] for column in table.description]
    write_csv(folder / "arms.csv", [*header, "file"], ([*row, curves.get(row[0])] for row in table.fetchall()))
    (folder / "INDEX.md").write_text(index(warehouse, curves, runs), encoding="utf-8")
    return readme_section(warehouse, curves)


def _write_curves(warehouse: duckdb.DuckDBPyConnection, folder: Path, stems: dict[str, str]) -> dict[str, str]:
    """by-arm/ and all_arms_wide.csv; returns the file of each arm that has a curve."""
    metrics = sorted(metric for (metric,) in warehouse.execute("select metric from metrics").fetchall())
    place = {metric: column for column, metric in enumerate(metrics)}
    beside = {arm for (arm,) in warehouse.execute("select arm from arms where is_diagnostic").fetchall()}
    files: dict[str, str] = {}

    def all_lines(curves: Iterable[Wide]) -> Iterator[str]:
        for curve in curves:
            files[curve.file] = f"by-arm/{stems[curve.file]}.csv"
            write_lines(folder / files[curve.file], [*LEADS, *_headings(curve.names)], lines(curve))
            if curve.file in beside:
                continue
            columns = np.array([place[name] for name in curve.names], dtype=np.int64)
            arm = quote(curve.file)
            yield from (f"{arm},{line}" for line in lines(curve, columns, len(metrics)))

    found = wide_files(warehouse, CURVE_ROWS, CURVE_CELLS, "writing curves")
    write_lines(folder / "all_arms_wide.csv", ["arm", *LEADS, *_headings(metrics)], all_lines(found))
    return files


def _headings(metrics: list[str]) -> list[str]:
    """The metrics' own names; one that is also the name of a leading column is written `logged_<name>`."""
    taken = {"arm", *LEADS, *metrics}
    headings = []
    for metric in metrics:
        heading = f"logged_{metric}" if metric in ("arm", *LEADS) else metric
        while heading != metric and heading in taken:
            heading = f"logged_{heading}"
        headings.append(heading)
    return headings


def _write_runs(warehouse: duckdb.DuckDBPyConnection, folder: Path, stems: dict[str, str]) -> dict[str, str]:
    """by-run/; returns the file of each run that logged a row."""
    files = _run_files(warehouse, stems)
    for run in wide_files(warehouse, RUN_ROWS, RUN_CELLS, "writing runs"):
        write_lines(folder / files[run.file], [*AUDIT, *run.names], lines(run))
    return files


def _run_files(warehouse: duckdb.DuckDBPyConnection, stems: dict[str, str]) -> dict[str, str]:
    runs_of: dict[str, list[str]] = {}
    for arm, run in warehouse.execute("select arm, run_id from runs where row_count > 0").fetchall():
        runs_of.setdefault(arm, []).append(run)
    return {
        run: f"by-run/{stems[arm]}/{stem}.csv"
        for arm, runs in runs_of.items()
        for run, stem in file_stems(runs).items()
    }


def row_counts(warehouse: duckdb.DuckDBPyConnection) -> dict[str, int]:
    """Rows that the marts hold for each CSV file."""
    steps = dict(warehouse.execute("select arm, step_count from arms").fetchall())
    [(formal,)] = warehouse.execute("select sum(step_count) from arms where not is_diagnostic").fetchall()
    stems = file_stems(steps)
    rows = dict(warehouse.execute("select run_id, row_count from runs").fetchall())
    return {
        "arms.csv": len(steps),
        "all_arms_wide.csv": formal or 0,
        **{f"by-arm/{stems[arm]}.csv": count for arm, count in steps.items()},
        **{file: rows[run] for run, file in _run_files(warehouse, stems).items()},
    }
