-- Protects: truncation. What a restart redid is not on the curve twice.
-- Fails when: a kept step of one segment lies at or after the start of a later segment of the chosen lineage.
-- Not a check of: which lineage was chosen.
select
    steps.arm,
    steps.training_step,
    steps.position,
    later.segment_number,
    later.first_position
from {{ ref('arm_steps') }} as steps
inner join {{ ref('segments') }} as later
    on
        steps.arm = later.arm
        and steps.segment_number < later.segment_number
        and steps.position >= later.first_position
where later.is_chosen
