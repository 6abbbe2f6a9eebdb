-- Protects: joins by training_step. Rollouts that are missing, doubled or off by a step show in their mean length.
-- Fails when: a step's mean response tokens differ from the logged mean by more than the var `reconciliation_fraction`.
-- Not a check of: steps beyond a hole in the curve, and of arms without a curve.
{{ config(severity = 'warn') }}

select
    arm,
    training_step,
    rollout_mean_response_tokens,
    logged_sequence_length,
    difference
from {{ ref('turn_reconciliation') }}
where abs(difference) > {{ var('reconciliation_fraction') }} * abs(logged_sequence_length)
