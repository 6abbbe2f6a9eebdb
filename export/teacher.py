"""Exports of the teacher's calls: costs by step and role, the ledger beside them, and the calls themselves."""

from pathlib import Path

import duckdb

from export.records import record_bytes, write_calls
from export.tables import write_csv
from homes.names import file_stem


def write(warehouse: duckdb.DuckDBPyConnection, folder: Path, profile: str) -> str:
    """Write `tables/teacher_*.csv` and `records/<run>/teacher_calls/`; returns the README's section."""
    totals = warehouse.execute(
        "select call_count, unknown_cost_call_count, known_cost_usd from teacher_totals"
    ).fetchone()
    calls, unknown, cost = totals or (0, 0, None)
    if not calls and not warehouse.execute("select 1 from teacher_spend_reconciliation limit 1").fetchone():
        return ""
    for mart in ("teacher_costs", "teacher_spend_reconciliation"):
        done = warehouse.execute(f"select * from {mart} order by run_id, step nulls last, role")
        header = [column[0] for column in done.description]
        write_csv(folder / "tables" / f"{mart}.csv", header, done.fetchall())
    write_calls(warehouse, folder / "records", profile)
    known = "none is known" if cost is None else f"${cost:,.6f} is known"
    return (
        "## Teacher calls\n\n"
        f"{calls:,} calls of formal runs. Of their cost {known}; {unknown:,} calls have an unknown cost, which is not "
        "zero.\n\n"
        "- `tables/teacher_costs.csv`: by step and role\n"
        "- `tables/teacher_spend_reconciliation.csv`: beside the run's own ledger\n"
        "- `records/<run>/teacher_calls/`: each call, one a line, and its label in `.labels.csv`\n"
    )


def sizes(warehouse: duckdb.DuckDBPyConnection, profile: str) -> dict[str, int]:
    """About how many bytes the large parts of the export will have."""
    return {f"records/{file_stem(run)}/teacher_calls": count for run, count in record_bytes(warehouse, "teacher_calls")}
