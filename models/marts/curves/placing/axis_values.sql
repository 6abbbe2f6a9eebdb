-- Grain: one row per (log_id, row_idx, metric) that is a number of a counter.
-- Decides which metrics may be an axis: those that the vars, the runs or a person name, and those of their last names.
with history as (select * from {{ ref('stg_history__values') }}),

stated as (
    select step_metric as metric from {{ ref('stg_history__axes') }}
    union
    select position_key as metric from {{ source('declared', 'arms') }}
    union
    select key_names.metric from (
        values {{ numbered_texts((var('position_keys') | list) + (var('trainer_step_keys') | list) + ['_step']) }}
    ) as key_names (metric, number)
),

last_names as (
    select {{ last_name('metric') }} as last_name
    from stated
    union
    select axis_names.last_name from (values {{ numbered_texts(var('axis_names')) }}) as axis_names (last_name, number)
),

axis_metrics as (
    select distinct
        metric,
        last_name
    from {{ ref('log_metrics') }}
    where
        metric in (select stated.metric from stated)
        or (substr(metric, 1, 1) <> '_' and last_name in (select last_names.last_name from last_names))
),

final as (
    select
        history.log_id,
        history.row_idx,
        history.metric,
        axis_metrics.last_name,
        max(history.value) as value
    from history
    inner join axis_metrics on history.metric = axis_metrics.metric
    where {{ finite_or_null('history.value') }} is not null
    group by history.log_id, history.row_idx, history.metric, axis_metrics.last_name
)

select * from final
