-- Protects: `training_step` is the ordinal of the step on its curve, 1..N.
-- Fails when: a step is missing, repeated, or the count starts elsewhere.
-- Not a check of: whether the trainer made the same number of steps (finding `trainer_step_differs`).
select
    arm,
    min(training_step) as first_training_step,
    max(training_step) as last_training_step,
    count(*) as step_count
from {{ ref('arm_steps') }}
group by arm
having min(training_step) <> 1 or max(training_step) <> count(*) or count(distinct training_step) <> count(*)
