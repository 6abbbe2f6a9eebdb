-- Grain: one row per (arm, segment_number, hub).
-- Decides through which segment each one is linked with others: a metric's hub is the lowest segment that logs it.
-- Segments that log nothing but axes share that.
with segment_metrics as (
    select
        stretches.arm,
        stretches.segment_number,
        coalesce(segment_metrics.metric, '') as metric
    from {{ ref('stretches') }} as stretches
    left join {{ ref('segment_metrics') }} as segment_metrics
        on
            stretches.arm = segment_metrics.arm
            and stretches.segment_number = segment_metrics.segment_number
            and segment_metrics.is_connecting
),

hubs as (
    select
        arm,
        metric,
        min(segment_number) as hub
    from segment_metrics
    group by arm, metric
),

final as (
    select distinct
        segment_metrics.arm,
        segment_metrics.segment_number,
        hubs.hub
    from segment_metrics
    inner join hubs on segment_metrics.arm = hubs.arm and segment_metrics.metric = hubs.metric
)

select * from final
