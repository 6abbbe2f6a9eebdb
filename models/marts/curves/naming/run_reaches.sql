-- Grain: one row per run_id of a family: runs of one name that differ in an identity key.
-- Measures where each run starts and how far it reaches along the family's x-axis, whatever arm it will have.
with run_variants as (select * from {{ ref('run_variants') }}),

logs as (
    select
        logs.log_id,
        logs.run_id,
        logs.started_at,
        run_variants.base as scope
    from {{ ref('logs') }} as logs
    inner join run_variants on logs.run_id = run_variants.run_id
    where not logs.is_duplicate_source
),

scoped_rows as (
    select
        logs.scope,
        logs.run_id,
        logs.log_id,
        log_rows.row_idx,
        log_rows.step_idx,
        coalesce(log_rows.logged_at, logs.started_at) as happened_at
    from {{ ref('stg_history__rows') }} as log_rows
    inner join logs on log_rows.log_id = logs.log_id
),

scoped_metrics as (
    select
        logs.scope,
        log_metrics.*
    from {{ ref('log_metrics') }} as log_metrics
    inner join logs on log_metrics.log_id = logs.log_id
),

declared_keys as (
    select
        arm as scope,
        position_key
    from {{ source('declared', 'arms') }}
    where position_key is not null
),

{{ position_keys() }},

keyed_rows as (
    select
        scoped_rows.*,
        position_keys.position_key,
        case
            when position_keys.position_key = '_step' then cast(scoped_rows.step_idx as double)
            else axis_values.value
        end as key_value
    from scoped_rows
    inner join position_keys on scoped_rows.scope = position_keys.scope
    left join {{ ref('axis_values') }} as axis_values
        on
            scoped_rows.log_id = axis_values.log_id
            and scoped_rows.row_idx = axis_values.row_idx
            and position_keys.position_key = axis_values.metric
),

{{ step_sync() }},

logged as (
    select
        keyed_rows.*,
        row_number() over (
            partition by keyed_rows.run_id
            order by keyed_rows.happened_at nulls last, keyed_rows.log_id, keyed_rows.row_idx
        ) as ordinal,
        keyed_rows.key_value - lag(keyed_rows.key_value) over along_log as gap
    from keyed_rows
    left join step_sync_rows
        on keyed_rows.log_id = step_sync_rows.log_id and keyed_rows.row_idx = step_sync_rows.row_idx
    where keyed_rows.key_value is not null and step_sync_rows.log_id is null
    window along_log as (partition by keyed_rows.log_id order by keyed_rows.row_idx)
),

family_gaps as (
    select
        scope,
        coalesce(median(case when gap > 0 then gap end), 0) as median_gap
    from logged
    group by scope
),

reaches as (
    select
        run_id,
        max(case when ordinal = 1 then key_value end) as first_value,
        max(case when ordinal = 1 then happened_at end) as happened_at,
        max(key_value) as last_value,
        coalesce(median(case when gap > 0 then gap end), 0) as median_gap
    from logged
    group by run_id
),

final as (
    select
        run_variants.run_id,
        run_variants.base,
        run_variants.variant,
        cast(
            row_number() over (
                partition by run_variants.base
                order by coalesce(reaches.happened_at, run_names.started_at) nulls last, run_variants.run_id
            ) as bigint
        ) as run_number,
        reaches.first_value as first_position,
        reaches.last_value as last_position,
        reaches.median_gap,
        coalesce(family_gaps.median_gap, 0) as family_median_gap
    from run_variants
    inner join {{ ref('run_names') }} as run_names on run_variants.run_id = run_names.run_id
    left join reaches on run_variants.run_id = reaches.run_id
    left join family_gaps on run_variants.base = family_gaps.scope
)

select * from final
