-- Protects: roll-back. A step that two runs of a lineage sampled counts once.
-- Fails when: a kept rollout lies at or after the first step of a later run that counts.
-- Not a check of: which lineage was chosen.
select
    rollouts.run_name,
    rollouts.step_idx,
    rollouts.sample_idx,
    later.run_name as later_run_name,
    later.first_step_idx as later_first_step_idx
from {{ ref('rollouts') }} as rollouts
inner join {{ ref('rollout_segments') }} as own on rollouts.run_name = own.run_name
inner join {{ ref('rollout_segments') }} as later
    on
        own.arm = later.arm
        and own.segment_number < later.segment_number
        and rollouts.step_idx >= later.first_step_idx
where rollouts.drop_reason is null and later.is_chosen
