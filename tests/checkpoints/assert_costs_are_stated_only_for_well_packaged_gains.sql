-- Protects: the cost axis: the packaging artifact and lost hours never read as cost-efficiency.
-- Fails when: a cost per point stands without eos_ok, a positive gain, known spending and a valid cell, or is missing.
-- Not a check of: whether the score is right.
select
    scores.model_id,
    scores.suite,
    scores.cost_status,
    scores.cost_per_point,
    scores.gain
from {{ ref('checkpoint_scores') }} as scores
left join {{ ref('checkpoints') }} as checkpoints on scores.model_id = checkpoints.model_id
left join {{ ref('cells') }} as cells on checkpoints.cell = cells.cell
where
    (
        scores.cost_status <> 'baseline'
        and coalesce(checkpoints.eos_ok, false)
        and coalesce(cells.is_valid, true)
        and coalesce(scores.gain, 0) > 0
        and checkpoints.driver_tokens_at_hour is not null
    ) is distinct from (scores.cost_per_point is not null)
