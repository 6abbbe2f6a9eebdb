"""Compares the marts of a home with the truth a simulation planted. Used by a test (small) and a bench (card)."""

import shutil
from pathlib import Path

import duckdb

SAME_VALUES = """
    with told as (
        select *, value = 'null' as is_null, try_cast(value as double) as number from truth_curves
    ),
    exact as (
        -- Text, and integers that no double holds, are compared as text.
        select *, not is_null and (number is null or regexp_matches(value, '^-?[0-9]{16,}$')) as is_text from told
    )
    select 'arm_metrics', coalesce(t.arm, m.arm), coalesce(t.training_step, m.training_step),
        coalesce(t.metric, m.metric), t.value, coalesce(m.value_text, cast(m.value as varchar))
    from exact as t
    full join arm_metrics as m on t.arm = m.arm and t.training_step = m.training_step and t.metric = m.metric
    where t.arm is null or m.arm is null
        or case when is_null then null else number end is distinct from m.value
        or replace(case when is_text then t.value end, ' ', '') is distinct from replace(m.value_text, ' ', '')
"""
SAME_STEPS = """
    with told as (select distinct arm, training_step, position, run_id from truth_curves)
    select 'arm_steps', coalesce(t.arm, s.arm), coalesce(t.training_step, s.training_step), t.position, s.position,
        t.run_id, s.run_id
    from told as t full join arm_steps as s on t.arm = s.arm and t.training_step = s.training_step
    where t.position is distinct from s.position or t.run_id is distinct from s.run_id
"""
SAME_ROW_COUNTS = """
    with told as (
        select run_id, training_step, count(*) as row_count from truth_run_rows
        where drop_reason is null group by run_id, training_step
    )
    select 'arm_steps', s.arm, coalesce(t.training_step, s.training_step), t.row_count, s.row_count
    from told as t full join arm_steps as s on t.run_id = s.run_id and t.training_step = s.training_step
    where t.row_count is distinct from s.row_count
"""
SAME_ROWS = """
    with told as (select * from truth_run_rows),
    labelled as (
        select r.*, regexp_extract(l.path, '([^/]+)/[^/]+$', 1) as log_directory
        from run_rows as r inner join landed as l on r.log_id = l.source_name
    )
    select 'run_rows', coalesce(t.log_directory, r.log_directory), coalesce(t.row_idx, r.row_idx), t.drop_reason,
        r.drop_reason, t.training_step, r.training_step, t.superseded_by_run_id, r.superseded_by_run_id
    from told as t
    full join labelled as r
        on t.run_id = r.run_id and t.log_directory = r.log_directory and t.row_idx = r.row_idx
    where t.run_id is null or r.run_id is null or t.drop_reason is distinct from r.drop_reason
        or t.training_step is distinct from r.training_step
        or t.superseded_by_run_id is distinct from r.superseded_by_run_id
"""
SAME_LOGS = """
    with found as (
        select logs.*, regexp_extract(l.path, '([^/]+)/[^/]+$', 1) as log_directory
        from logs inner join landed as l on logs.log_id = l.source_name
    )
    select 'logs', coalesce(t.log_directory, f.log_directory), t.row_count, f.row_count, t.is_unfinished,
        f.is_unfinished
    from truth_logs as t full join found as f on t.log_directory = f.log_directory
    where t.run_id is distinct from f.run_id or t.row_count is distinct from f.row_count
        or t.is_unfinished is distinct from f.is_unfinished
"""
SAME_ARMS = """
    with totals as (
        select arm, count(*) as value_count, fsum(value) filter (where isfinite(value)) as finite_value_sum
        from arm_metrics group by arm
    )
    select 'arms', coalesce(t.arm, a.arm), t.step_count, a.step_count, t.run_count, a.run_count, t.log_count,
        a.log_count, t.lineage_count, a.lineage_count, t.median_gap, a.median_gap, t.has_step_hole, a.has_step_hole,
        t.tightest_kept_gap_ratio, a.tightest_kept_gap_ratio,
        t.widest_collapsed_gap_ratio, a.widest_collapsed_gap_ratio, t.logged_row_count, a.logged_row_count,
        t.value_count, totals.value_count, t.finite_value_sum, totals.finite_value_sum
    from truth_arms as t full join arms as a on t.arm = a.arm left join totals on a.arm = totals.arm
    where t.step_count is distinct from a.step_count or t.run_count is distinct from a.run_count
        or t.log_count is distinct from a.log_count or t.lineage_count is distinct from a.lineage_count
        or t.median_gap is distinct from a.median_gap or t.has_step_hole is distinct from a.has_step_hole
        or t.tightest_kept_gap_ratio is distinct from a.tightest_kept_gap_ratio
        or t.widest_collapsed_gap_ratio is distinct from a.widest_collapsed_gap_ratio
        or t.logged_row_count is distinct from a.logged_row_count
        or t.value_count <> coalesce(totals.value_count, 0)
        or abs(t.finite_value_sum - coalesce(totals.finite_value_sum, 0)) > 1e-9 * abs(t.finite_value_sum)
"""
SAME_FINDINGS = """
    with found as (select * from curve_findings)
    select 'curve_findings', coalesce(t.kind, f.kind), coalesce(t.subject, f.subject), t.kind is not null as is_planted
    from truth_findings as t full join found as f on t.kind = f.kind and t.subject = f.subject
    where t.kind is null or f.kind is null
"""
SAME_DEVIATIONS = """
    select 'config_deviations', coalesce(t.arm, d.arm), coalesce(t.run_id, d.run_id),
        coalesce(t.config_key, d.config_key), t.value, d.value
    from truth_config_deviations as t
    full join config_deviations as d on t.arm = d.arm and t.run_id = d.run_id and t.config_key = d.config_key
    where t.value is distinct from d.value or t.recipe_value is distinct from d.recipe_value
        or t.affects_learning is distinct from d.affects_learning
"""
COLUMNS = {
    "curves": "arm varchar, training_step bigint, position double, run_id varchar, metric varchar, value varchar",
    "run_rows": "run_id varchar, log_directory varchar, row_idx bigint, drop_reason varchar, training_step bigint, "
    "superseded_by_run_id varchar",
    "logs": "log_directory varchar, run_id varchar, row_count bigint, is_unfinished boolean",
    "arms": "arm varchar, step_count bigint, run_count bigint, log_count bigint, lineage_count bigint, "
    "median_gap double, has_step_hole boolean, "
    "tightest_kept_gap_ratio double, widest_collapsed_gap_ratio double, logged_row_count bigint, value_count bigint, "
    "finite_value_sum double",
    "findings": "kind varchar, subject varchar",
    "config_deviations": "arm varchar, run_id varchar, config_key varchar, value varchar, recipe_value varchar, "
    "affects_learning boolean",
}


def declare(home: Path, simulated: Path) -> None:
    """Copy the facts a simulation's people would declare into the home."""
    for path in sorted((simulated / "declared").glob("*.csv")):
        shutil.copy(path, home / "declared" / path.name)


def differences(home: Path, simulated: Path) -> list[tuple]:
    """Every row in which a mart and the truth differ, its mart first; none is what a right stitch gives."""
    with duckdb.connect(str(home / "warehouse.duckdb"), read_only=True) as warehouse:
        warehouse.execute("set enable_progress_bar = false")
        warehouse.execute(
            "create temp table landed as select * from read_parquet(?)", [f"{home}/landing/landed_sources/*.parquet"]
        )
        for table, columns in COLUMNS.items():
            path = simulated / "truth" / f"{table}.csv"
            warehouse.execute(f"create temp table truth_{table} ({columns})")
            if path.exists():
                warehouse.execute(f"copy truth_{table} from '{path}' (header, delimiter ',', quote '\"', escape '\"')")
        checks = [SAME_ROWS, SAME_ROW_COUNTS, SAME_LOGS, SAME_ARMS, SAME_FINDINGS, SAME_DEVIATIONS]
        if (simulated / "truth" / "curves.csv").exists():
            checks += [SAME_STEPS, SAME_VALUES]
        return [row for check in checks for row in warehouse.execute(check).fetchall()]
