"""Compares the marts of a home with what the scale `shapes` planted: rows, arms, steps, values and findings."""

from pathlib import Path

import duckdb

COLUMNS = {
    "run_rows": "run_id varchar, log_directory varchar, row_idx bigint, arm varchar, drop_reason varchar, "
    "training_step bigint, position double, position_source varchar, track_number bigint, superseded_by_run_id varchar",
    "run_arms": "run_id varchar, arm varchar, evidence varchar, variant_of varchar, seed varchar",
    "arms": "arm varchar, project varchar, position_key varchar, run_count bigint, log_count bigint, step_count bigint",
    "arm_steps": "arm varchar, training_step bigint, position double, run_id varchar",
    "curves": "arm varchar, training_step bigint, metric varchar, value double",
    "findings": "kind varchar, subject varchar",
}
FOUND = {
    "run_rows": """
        select r.*, regexp_extract(l.path, '([^/]+)/[^/]+$', 1) as log_directory
        from run_rows as r inner join landed as l on r.log_id = l.source_name
    """,
    "run_arms": "select * from run_arms",
    "arms": "select * from arms",
    "arm_steps": "select * from arm_steps",
    "curves": "select *, value_text is null as is_number from arm_metrics",
}
"""What was built, under the truth's column names."""

KEYS = {
    "run_rows": ["run_id", "log_directory", "row_idx"],
    "run_arms": ["run_id"],
    "arms": ["arm"],
    "arm_steps": ["arm", "training_step"],
    "curves": ["arm", "training_step", "metric"],
}
NOT_BUILT = {"project"}
"""Columns of the truth that the mart does not have."""

JUDGED = (
    *("longer_lineage_not_chosen", "several_complete_starts", "orphan_start", "late_start", "axis_restarts"),
    *("counter_falls", "unpositioned_metrics", "unpositioned_rows", "arms_differ_in_config_alone"),
    *("logging_intervals_differ", "seam_guard_band", "step_hole", "concurrent_segments", "trainer_step_differs"),
)
"""Kinds of findings that a shape states whole: one that was not planted is a false alarm."""


def shape_differences(home: Path, simulated: Path) -> list[tuple]:
    """Every row that was planted and not built so, or built and not planted: (table, key..., planted, built)."""
    with duckdb.connect(str(home / "warehouse.duckdb"), read_only=True) as warehouse:
        warehouse.execute("set enable_progress_bar = false")
        warehouse.execute(
            "create temp table landed as select * from read_parquet(?)", [f"{home}/landing/landed_sources/*.parquet"]
        )
        for table, columns in COLUMNS.items():
            path = simulated / "truth" / f"{table}.csv"
            warehouse.execute(f"create temp table truth_{table} ({columns})")
            warehouse.execute(f"copy truth_{table} from '{path}' (header, delimiter ',', quote '\"', escape '\"')")
        found = [row for table in FOUND for row in warehouse.execute(_difference(table)).fetchall()]
        return found + warehouse.execute(_findings()).fetchall()


def _difference(table: str) -> str:
    keys = KEYS[table]
    names = [column.split()[0] for column in COLUMNS[table].split(", ")]
    compared = [name for name in names if name not in keys and name not in NOT_BUILT]
    is_same = " and ".join(f"t.{name} is not distinct from f.{name}" for name in compared)
    return f"""
        with found as ({FOUND[table]})
        select '{table}', {", ".join(f"coalesce(t.{key}, f.{key})" for key in keys)},
            case when t.{keys[0]} is not null then ({", ".join(f"t.{name}" for name in compared)},) end,
            case when f.{keys[0]} is not null then ({", ".join(f"f.{name}" for name in compared)},) end
        from truth_{table} as t full join found as f on {" and ".join(f"t.{key} = f.{key}" for key in keys)}
        where t.{keys[0]} is null or f.{keys[0]} is null or not ({is_same})
        order by all
    """


def _findings() -> str:
    return f"""
        with found as (select * from findings where kind in {JUDGED})
        select 'findings', coalesce(t.kind, f.kind), coalesce(t.subject, f.subject), t.kind is not null as is_planted
        from truth_findings as t full join found as f on t.kind = f.kind and t.subject = f.subject
        where t.kind is null or f.kind is null
        order by all
    """
