-- Grain: one row per metric.
-- Decides which metrics are dead: zero wherever they were logged, on a curve or not. A counter is not.
with arm_metrics as (select * from {{ ref('arm_metrics') }}),

logged as (
    select
        metric,
        sum(number_count) > 0 and sum(nonzero_count) = 0 and sum(text_count) = 0 and bool_and(is_connecting_name)
            as is_dead
    from {{ ref('log_metrics') }}
    group by metric
),

counted as (
    select
        metric,
        count(distinct case when value is not null or value_text is not null then arm end) as arm_count,
        count(value) as value_count,
        count(*) filter (where isnan(value)) as nan_count,
        count(*) filter (where value is null and value_text is null) as null_count,
        count(*) filter (where value is null and value_text is not null) as text_count,
        min(value) filter (where not isnan(value)) as min_value,
        max(value) filter (where not isnan(value)) as max_value
    from arm_metrics
    group by metric
),

final as (
    select
        counted.metric,
        counted.arm_count,
        counted.value_count,
        counted.nan_count,
        counted.null_count,
        counted.text_count,
        counted.min_value,
        counted.max_value,
        logged.is_dead
    from counted
    inner join logged on counted.metric = logged.metric
)

select * from final
