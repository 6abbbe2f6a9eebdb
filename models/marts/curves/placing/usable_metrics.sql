-- Grain: one row per (log_id, metric) that is on a usable row.
-- Counts what a log holds of each metric; a log of which rows are excluded is counted anew.
with usable_rows as (select * from {{ ref('usable_rows') }}),

log_metrics as (select * from {{ ref('log_metrics') }}),

usable_logs as (
    select
        arm,
        log_id,
        bool_or(drop_reason is not null) as is_partly_excluded
    from usable_rows
    group by arm, log_id
    having bool_or(drop_reason is null)
),

recounted as (
    select
        history.log_id,
        history.metric,
        count(*) as value_count
    from {{ ref('stg_history__values') }} as history
    inner join usable_rows on history.log_id = usable_rows.log_id and history.row_idx = usable_rows.row_idx
    where
        usable_rows.drop_reason is null
        and history.log_id in (
            select usable_logs.log_id
            from usable_logs
            where usable_logs.is_partly_excluded
        )
    group by history.log_id, history.metric
),

final as (
    select
        usable_logs.arm,
        usable_logs.log_id,
        log_metrics.metric,
        log_metrics.last_name,
        log_metrics.is_connecting_name,
        coalesce(recounted.value_count, log_metrics.value_count) as value_count
    from log_metrics
    inner join usable_logs on log_metrics.log_id = usable_logs.log_id
    left join recounted on log_metrics.log_id = recounted.log_id and log_metrics.metric = recounted.metric
    where not usable_logs.is_partly_excluded or recounted.metric is not null
)

select * from final
