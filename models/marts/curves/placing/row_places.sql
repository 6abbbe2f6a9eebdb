-- Grain: one row per (log_id, row_idx) that is usable and states no position of its own, in a log with rows that do.
-- Decides its position: another step metric that keeps pace with the key, else the tracker's step where it runs beside
-- the key, else the position of the nearest placed row.
with logged_rows as (select * from {{ ref('logged_rows') }}),

step_metric_rows as (select * from {{ ref('step_metric_rows') }}),

log_rows as (
    select * from logged_rows
    where
        log_id in (
            select placed.log_id from logged_rows as placed
            group by placed.log_id
            having count(placed.position) > 0 and count(placed.position) < count(*)
        )
),

tracker_offsets as (
    select
        log_id,
        min(position - step_idx) as tracker_offset
    from log_rows
    where position_key <> '_step' and position is not null and step_idx is not null
    group by log_id
    having min(position) < max(position) and min(position - step_idx) = max(position - step_idx)
),

stated as (
    select
        log_rows.log_id,
        log_rows.row_idx,
        log_rows.position is not null as is_logged,
        coalesce(
            log_rows.position, step_metric_rows.position, log_rows.step_idx + tracker_offsets.tracker_offset
        ) as position,
        case
            when step_metric_rows.position is not null then 'step_metric'
            when log_rows.step_idx + tracker_offsets.tracker_offset is not null then 'tracker_step'
            else 'carried'
        end as position_source
    from log_rows
    left join step_metric_rows
        on log_rows.log_id = step_metric_rows.log_id and log_rows.row_idx = step_metric_rows.row_idx
    left join tracker_offsets on log_rows.log_id = tracker_offsets.log_id
),

carried as (
    select
        *,
        {{ last_known('position') }} over up_to_row as position_before,
        {{ first_known('position') }} over from_row as position_after
    from stated
    window
        up_to_row as (partition by log_id order by row_idx rows between unbounded preceding and current row),
        from_row as (partition by log_id order by row_idx rows between current row and unbounded following)
),

final as (
    select
        log_id,
        row_idx,
        coalesce(position, position_before, position_after) as position,
        position_source
    from carried
    where not is_logged
)

select * from final
