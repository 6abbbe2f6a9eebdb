-- Grain: one row per (arm, metric): a counter that goes on where the tracker's step, the arm's x-axis, begins anew.
-- Decides whether another axis would show that an arm's logs continue each other.
with log_starts as (
    select
        segments.arm,
        segments.log_id,
        min(segments.segment_number) as segment_number,
        min_by(segments.first_position, segments.segment_number) as first_position,
        min_by(segments.median_gap, segments.segment_number) as median_gap
    from {{ ref('segments') }} as segments
    inner join {{ ref('arm_keys') }} as arm_keys on segments.arm = arm_keys.arm
    where segments.is_main_track and arm_keys.position_key = '_step' and arm_keys.evidence = 'tracker'
    group by segments.arm, segments.log_id
),

neighbours as (
    select
        *,
        lag(log_id) over (partition by arm order by segment_number) as earlier_log_id
    from log_starts
),

restarts as (
    select
        arm,
        log_id,
        earlier_log_id
    from neighbours
    where earlier_log_id is not null and first_position <= median_gap
),

restarted_logs as (
    select log_id from restarts
    union
    select earlier_log_id from restarts
),

counts as (
    select
        axis_values.log_id,
        axis_values.metric,
        axis_values.row_idx,
        axis_values.value,
        axis_values.value - lag(axis_values.value) over along_log as gap
    from {{ ref('axis_values') }} as axis_values
    inner join restarted_logs on axis_values.log_id = restarted_logs.log_id
    inner join {{ ref('logged_rows') }} as logged_rows
        on axis_values.log_id = logged_rows.log_id and axis_values.row_idx = logged_rows.row_idx
    where
        axis_values.last_name in ({{ text_list(var('axis_names')) }})
        and substr(axis_values.metric, 1, 1) <> '_'
    window along_log as (partition by axis_values.log_id, axis_values.metric order by axis_values.row_idx)
),

counters as (
    select
        log_id,
        metric,
        min(value) as first_value,
        max(value) as last_value,
        median(case when gap > 0 then gap end) as median_gap
    from counts
    group by log_id, metric
    having min(coalesce(gap, 0)) >= 0 and min(value) < max(value)
),

final as (
    select
        restarts.arm,
        later.metric,
        count(*) as restart_count
    from restarts
    inner join counters as later on restarts.log_id = later.log_id
    inner join counters as earlier on restarts.earlier_log_id = earlier.log_id and later.metric = earlier.metric
    where
        later.first_value > earlier.first_value
        and later.first_value >= earlier.last_value - {{ var('resume_reach_gaps') }} * earlier.median_gap
    group by restarts.arm, later.metric
)

select * from final
