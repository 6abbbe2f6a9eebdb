-- Protects: means and totals. A step with too few rollouts lost some, one with too many counts some twice.
-- Fails when: rollouts that count differ from the arm's expected_rollouts_per_step, a step without any included.
-- Not a check of: arms that declare no batch; steps before the first and after the last saved batch.
{{ config(severity = 'warn') }}

select
    arm,
    training_step,
    n_rollouts,
    expected_rollouts_per_step
from {{ ref('rollout_batches') }}
where n_rollouts <> expected_rollouts_per_step
