-- Protects: the split. The trainer's own count of calls is an independent witness of the blocks found.
-- Fails when: a step's totals differ by more than the var `block_call_fraction`.
-- Not a check of: single rollouts; zero_run_calibration counts those.
{{ config(severity = 'warn') }}

select
    arm,
    training_step,
    block_count,
    call_count,
    block_call_difference_fraction
from {{ ref('rollout_batches') }}
where block_call_difference_fraction > {{ var('block_call_fraction') }}
