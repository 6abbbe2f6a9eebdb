-- Grain: one row per (arm, training_step) at which the arm's headline metric was logged.
-- The curve a reader looks at first: where a restart joins it, and where it ends.
with arms as (
    select * from {{ ref('arms') }}
    where not is_diagnostic
),

headlines as (
    select
        arm_steps.arm,
        arms.headline_metric as metric,
        arm_steps.training_step,
        arm_steps.position,
        arm_steps.logged_at,
        arm_steps.run_id,
        arm_metrics.value,
        arm_steps.segment_number,
        lag(arm_steps.segment_number) over along_arm as previous_segment_number,
        arm_steps.training_step = arms.step_count as is_last
    from {{ ref('arm_steps') }} as arm_steps
    inner join arms on arm_steps.arm = arms.arm
    inner join {{ ref('arm_metrics') }} as arm_metrics
        on
            arm_steps.arm = arm_metrics.arm
            and arm_steps.training_step = arm_metrics.training_step
            and arms.headline_metric = arm_metrics.metric
    window along_arm as (partition by arm_steps.arm order by arm_steps.training_step)
)

select
    arm,
    metric,
    training_step,
    position,
    logged_at,
    run_id,
    value,
    coalesce(segment_number <> previous_segment_number, false) as is_seam,
    is_last
from headlines
