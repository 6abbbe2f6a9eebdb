-- Grain: one row per (arm, segment_number, metric) that is on a row of the segment.
-- A log of one segment holds in it what it holds at all; of the others the values are looked through.
with stretches as (select * from {{ ref('stretches') }}),

split_logs as (
    select log_id
    from stretches
    group by log_id
    having count(*) > 1
),

split_rows as (
    select
        placed_rows.log_id,
        placed_rows.row_idx,
        placed_rows.segment_idx
    from {{ ref('placed_rows') }} as placed_rows
    inner join split_logs on placed_rows.log_id = split_logs.log_id
),

held as (
    select
        usable_metrics.log_id,
        0 as segment_idx,
        usable_metrics.metric
    from {{ ref('usable_metrics') }} as usable_metrics
    left join split_logs on usable_metrics.log_id = split_logs.log_id
    where split_logs.log_id is null
    union all
    select distinct
        history.log_id,
        split_rows.segment_idx,
        history.metric
    from {{ ref('stg_history__values') }} as history
    inner join split_rows on history.log_id = split_rows.log_id and history.row_idx = split_rows.row_idx
),

final as (
    select
        stretches.arm,
        stretches.segment_number,
        held.metric,
        connecting_metrics.metric is not null as is_connecting
    from held
    inner join stretches on held.log_id = stretches.log_id and held.segment_idx = stretches.segment_idx
    left join {{ ref('connecting_metrics') }} as connecting_metrics
        on held.log_id = connecting_metrics.log_id and held.metric = connecting_metrics.metric
)

select * from final
