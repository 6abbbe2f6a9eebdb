-- Grain: one row per (log_id, row_idx) that is placed by another step metric than the arm's key.
-- Decides which keys beside the arm's own count the same thing: those that keep pace with it in that log.
with logged_rows as (select * from {{ ref('logged_rows') }}),

log_rows as (
    select * from logged_rows
    where
        log_id in (
            select placed.log_id from logged_rows as placed
            group by placed.log_id
            having count(placed.position) > 0 and count(placed.position) < count(*)
        )
),

beside as (
    select
        *,
        {{ last_known('position') }} over up_to_row as position_before,
        {{ first_known('position') }} over from_row as position_after,
        lag(position) over along_logged as previous_position
    from log_rows
    window
        up_to_row as (partition by log_id order by row_idx rows between unbounded preceding and current row),
        from_row as (partition by log_id order by row_idx rows between current row and unbounded following),
        along_logged as (partition by log_id, case when position is null then 0 else 1 end order by row_idx)
),

median_gaps as (
    select
        log_id,
        coalesce(median(case when position > previous_position then position - previous_position end), 0) as median_gap
    from beside
    group by log_id
),

axes as (
    select distinct
        log_id,
        step_metric
    from {{ ref('stg_history__axes') }}
),

other_keys as (
    select
        beside.log_id,
        beside.row_idx,
        axis_values.metric,
        axis_values.value,
        case when axes.step_metric is null then 1 else 0 end as is_undeclared,
        beside.position is null as is_placed_by_it,
        beside.is_step_sync
        or (
            axis_values.value >= case
                when beside.position_before is null then least(0, beside.position_after)
                when beside.position_after is null then beside.position_before
                else least(beside.position_before, beside.position_after)
            end - median_gaps.median_gap
            and axis_values.value <= case
                when beside.position_after is null then beside.position_before + 2 * median_gaps.median_gap
                when beside.position_before is null then beside.position_after + median_gaps.median_gap
                else greatest(beside.position_before, beside.position_after) + median_gaps.median_gap
            end
        ) as is_in_pace
    from beside
    inner join median_gaps on beside.log_id = median_gaps.log_id
    inner join {{ ref('axis_values') }} as axis_values
        on beside.log_id = axis_values.log_id and beside.row_idx = axis_values.row_idx
    left join axes
        on beside.log_id = axes.log_id and axis_values.metric = axes.step_metric
    where
        axis_values.metric <> beside.position_key
        and substr(axis_values.metric, 1, 1) <> '_'
        and (axes.step_metric is not null or axis_values.last_name = beside.last_name)
),

steady_keys as (
    select
        log_id,
        metric
    from other_keys
    group by log_id, metric
    having bool_and(is_in_pace)
),

ranked as (
    select
        other_keys.log_id,
        other_keys.row_idx,
        other_keys.value,
        row_number() over (
            partition by other_keys.log_id, other_keys.row_idx
            order by other_keys.is_undeclared asc, other_keys.metric asc
        ) as preference
    from other_keys
    inner join steady_keys on other_keys.log_id = steady_keys.log_id and other_keys.metric = steady_keys.metric
    where other_keys.is_placed_by_it
),

final as (
    select
        log_id,
        row_idx,
        value as position
    from ranked
    where preference = 1
)

select * from final
