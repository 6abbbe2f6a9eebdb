-- Protects: the curve never goes back.
-- Fails when: a step's position is not above that of the step before.
-- Not a check of: how far apart they are (finding `step_hole`).
select
    later.arm,
    later.training_step,
    earlier.position as position_before,
    later.position
from {{ ref('arm_steps') }} as later
inner join {{ ref('arm_steps') }} as earlier
    on later.arm = earlier.arm and later.training_step = earlier.training_step + 1
where later.position <= earlier.position
