-- Grain: one row per (log_id, row_idx) that is usable.
-- Decides which rows state their own position: those with the arm's key, less those into which the tracker wrote it; in
-- a log without it those with its most frequent key of the same last name.
with arm_keys as (
    select
        *,
        {{ last_name('position_key') }} as last_name
    from {{ ref('arm_keys') }}
),

axis_values as (select * from {{ ref('axis_values') }}),

keyed_rows as (
    select
        usable_rows.arm as scope,
        usable_rows.run_id,
        usable_rows.log_id,
        usable_rows.row_idx,
        usable_rows.step_idx,
        usable_rows.happened_at,
        arm_keys.position_key,
        arm_keys.last_name,
        case
            when arm_keys.position_key = '_step' then cast(usable_rows.step_idx as double) else axis_values.value
        end as key_value
    from {{ ref('usable_rows') }} as usable_rows
    inner join arm_keys on usable_rows.arm = arm_keys.arm
    left join axis_values
        on
            usable_rows.log_id = axis_values.log_id
            and usable_rows.row_idx = axis_values.row_idx
            and arm_keys.position_key = axis_values.metric
    where usable_rows.drop_reason is null
),

keyed_logs as (
    select distinct
        scope,
        log_id
    from keyed_rows
),

step_metrics as (
    select distinct
        keyed_logs.scope,
        axes.log_id,
        axes.step_metric as metric
    from {{ ref('stg_history__axes') }} as axes
    inner join keyed_logs on axes.log_id = keyed_logs.log_id
),

{{ step_sync() }},

keyless_logs as (
    select log_id
    from keyed_rows
    group by log_id
    having count(key_value) = 0
),

stand_ins as (
    select
        keyed_rows.log_id,
        axis_values.metric,
        row_number() over (
            partition by keyed_rows.log_id order by count(*) desc, axis_values.metric asc
        ) as preference
    from keyed_rows
    inner join keyless_logs on keyed_rows.log_id = keyless_logs.log_id
    inner join axis_values on keyed_rows.log_id = axis_values.log_id and keyed_rows.row_idx = axis_values.row_idx
    where
        axis_values.last_name = keyed_rows.last_name
        and axis_values.metric <> keyed_rows.position_key
        and substr(axis_values.metric, 1, 1) <> '_'
    group by keyed_rows.log_id, axis_values.metric
),

final as (
    select
        keyed_rows.scope as arm,
        keyed_rows.run_id,
        keyed_rows.log_id,
        keyed_rows.row_idx,
        keyed_rows.step_idx,
        keyed_rows.happened_at,
        keyed_rows.position_key,
        keyed_rows.last_name,
        step_sync_rows.log_id is not null as is_step_sync,
        case when step_sync_rows.log_id is null then coalesce(keyed_rows.key_value, stood_in.value) end as position,
        case
            when step_sync_rows.log_id is not null then null
            when keyed_rows.key_value is not null then 'logged'
            when stood_in.value is not null then 'step_metric'
        end as position_source
    from keyed_rows
    left join step_sync_rows
        on keyed_rows.log_id = step_sync_rows.log_id and keyed_rows.row_idx = step_sync_rows.row_idx
    left join stand_ins on keyed_rows.log_id = stand_ins.log_id and stand_ins.preference = 1
    left join axis_values as stood_in
        on
            keyed_rows.log_id = stood_in.log_id
            and keyed_rows.row_idx = stood_in.row_idx
            and stand_ins.metric = stood_in.metric
)

select * from final
