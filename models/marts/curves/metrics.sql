-- Grain: one row per metric.
-- Decides which metrics are dead: zero wherever they were logged, on every arm's curve.
with arm_metrics as (select * from {{ ref('arm_metrics') }}),

final as (
    select
        metric,
        count(distinct case when value is not null or value_text is not null then arm end) as arm_count,
        count(value) as value_count,
        count(*) filter (where isnan(value)) as nan_count,
        count(*) filter (where value is null and value_text is null) as null_count,
        count(*) filter (where value is null and value_text is not null) as text_count,
        min(value) filter (where not isnan(value)) as min_value,
        max(value) filter (where not isnan(value)) as max_value,
        coalesce(bool_and(value = 0), false)
        and count(*) filter (where value is null and value_text is not null) = 0 as is_dead
    from arm_metrics
    group by metric
)

select * from final
