-- Grain: one row per (arm, model_id): a saved model of an arm, beside the arm's curve where that step is on it.
with checkpoints as (
    select * from {{ ref('checkpoints') }}
    where arm is not null
),

arm_steps as (select * from {{ ref('arm_steps') }})

select
    checkpoints.arm,
    checkpoints.model_id,
    checkpoints.step as training_step,
    checkpoints.source,
    checkpoints.eos_ok,
    arm_steps.position,
    arm_steps.run_id,
    arm_steps.logged_at,
    arm_steps.training_step is not null as is_on_curve
from checkpoints
left join arm_steps on checkpoints.arm = arm_steps.arm and checkpoints.step = arm_steps.training_step
