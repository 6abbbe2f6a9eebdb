-- Grain: one row per (log_id, row_idx).
-- Decides which history rows may be used at all: not those of a duplicate source, not the excluded ones.
with logs as (
    select * from {{ ref('logs') }}
    where run_id is not null
),

log_rows as (select * from {{ ref('stg_history__rows') }}),

run_arms as (select * from {{ ref('run_arms') }}),

exclusions as (
    select * from {{ source('declared', 'run_exclusions') }}
    where run_id is not null or arm is not null
),

timed as (
    select
        logs.run_id,
        run_arms.arm,
        run_arms.variant_of,
        log_rows.log_id,
        log_rows.row_idx,
        log_rows.record_number,
        log_rows.step_idx,
        log_rows.logged_at,
        logs.producer,
        logs.is_duplicate_kind,
        logs.is_duplicate_source,
        coalesce(log_rows.logged_at, logs.started_at) as happened_at
    from log_rows
    inner join logs on log_rows.log_id = logs.log_id
    inner join run_arms on logs.run_id = run_arms.run_id
),

excluded as (
    select distinct
        timed.log_id,
        timed.row_idx
    from timed
    inner join exclusions
        on
            coalesce(exclusions.run_id, timed.run_id) = timed.run_id
            and (exclusions.arm is null or exclusions.arm in (timed.arm, timed.variant_of))
            and (exclusions.logged_from is null or timed.happened_at >= exclusions.logged_from)
            and (exclusions.logged_until is null or timed.happened_at < exclusions.logged_until)
),

final as (
    select
        timed.run_id,
        timed.log_id,
        timed.row_idx,
        timed.arm,
        timed.record_number,
        timed.step_idx,
        timed.logged_at,
        timed.happened_at,
        timed.producer,
        timed.is_duplicate_kind,
        excluded.log_id is not null as is_excluded,
        case
            when timed.is_duplicate_source then 'duplicate_source'
            when excluded.log_id is not null then 'excluded'
        end as drop_reason
    from timed
    left join excluded on timed.log_id = excluded.log_id and timed.row_idx = excluded.row_idx
)

select * from final
