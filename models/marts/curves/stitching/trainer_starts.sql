-- Grain: one row per (log_id, segment_idx) that logs the trainer's own step.
-- Measures at which of its own steps the trainer began a segment, and whether that is no more than its first.
with trainer_values as (
    select
        placed_rows.log_id,
        placed_rows.segment_idx,
        placed_rows.row_idx,
        axis_values.value,
        axis_values.value - lag(axis_values.value) over along_segment as gap
    from {{ ref('placed_rows') }} as placed_rows
    inner join {{ ref('arm_keys') }} as arm_keys on placed_rows.arm = arm_keys.arm
    inner join {{ ref('axis_values') }} as axis_values
        on
            placed_rows.log_id = axis_values.log_id
            and placed_rows.row_idx = axis_values.row_idx
            and arm_keys.trainer_step_key = axis_values.metric
    window along_segment as (partition by placed_rows.log_id, placed_rows.segment_idx order by placed_rows.row_idx)
),

final as (
    select
        log_id,
        segment_idx,
        min_by(value, row_idx) as first_step,
        min_by(value, row_idx) <= greatest(coalesce(median(case when gap > 0 then gap end), 0), 1) as is_low
    from trainer_values
    group by log_id, segment_idx
)

select * from final
