-- Grain: one row per cell: a driver at one effort.
-- Decides what a cell is called and whether it counts; what is declared stands before what its run.json says.
with declared as (
    select
        cell,
        min(driver) as driver,
        min(effort) as effort,
        bool_and(is_plotted) as is_plotted,
        bool_and(is_valid) as is_valid,
        min(note) as note
    from {{ source('declared', 'cells') }}
    group by cell
),

runs as (
    select * from {{ ref('stg_checkpoints__cells') }}
    where is_standing
),

counted as (
    select
        cell,
        count(*) as checkpoint_count,
        sum(case when eos_ok then 1 else 0 end) as eos_ok_count,
        sum(case when eos_ok is not null then 1 else 0 end) as eos_known_count,
        sum(case when role = 'SUBMITTED' then 1 else 0 end) as submitted_count,
        max(case when role = 'SUBMITTED' then hour end) as submitted_hour
    from {{ ref('checkpoints') }}
    where cell is not null
    group by cell
),

published as (
    select
        cell,
        min(driver) as driver,
        min(effort) as effort
    from {{ ref('checkpoint_records') }}
    where cell is not null and not is_baseline
    group by cell
),

names as (
    select cell from declared
    union distinct
    select cell from runs
    union distinct
    select cell from counted
),

final as (
    select
        names.cell,
        coalesce(declared.driver, runs.driver, published.driver) as driver,
        coalesce(declared.effort, runs.effort, published.effort) as effort,
        runs.started_at,
        runs.ended_at,
        {{ hours_between('runs.started_at', 'runs.ended_at') }} as run_hours,
        cast(coalesce(counted.checkpoint_count, 0) as bigint) as checkpoint_count,
        cast(coalesce(counted.eos_ok_count, 0) as bigint) as eos_ok_count,
        cast(coalesce(counted.eos_known_count, 0) as bigint) as eos_known_count,
        cast(coalesce(counted.submitted_count, 0) as bigint) as submitted_count,
        counted.submitted_hour,
        coalesce(declared.is_plotted, true) as is_plotted,
        coalesce(declared.is_valid, true) as is_valid,
        declared.note,
        declared.cell is not null as is_declared,
        runs.cell is not null or counted.cell is not null as is_in_data
    from names
    left join declared on names.cell = declared.cell
    left join runs on names.cell = runs.cell
    left join counted on names.cell = counted.cell
    left join published on names.cell = published.cell
)

select * from final
