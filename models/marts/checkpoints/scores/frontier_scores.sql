-- Grain: one row per (cell, suite, model_id): well packaged, scored checkpoints of valid cells whose hour is known.
-- Decides the best score so far by hour and by tokens, within one harness.
with scores as (
    select
        scores.cell,
        scores.suite,
        scores.model_id,
        scores.harness,
        coalesce(scores.harness, '') as harness_key,
        scores.score,
        scores.gain,
        checkpoints.hour,
        checkpoints.driver_tokens_at_hour
    from {{ ref('checkpoint_scores') }} as scores
    inner join {{ ref('checkpoints') }} as checkpoints on scores.model_id = checkpoints.model_id
    where
        scores.cost_status not in ('baseline', 'invalid_cell', 'unscored')
        and checkpoints.eos_ok
        and checkpoints.hour is not null
        and scores.cell is not null
),

best as (
    select
        *,
        max(score) over until_hour as best_score_by_hour,
        case when driver_tokens_at_hour is not null then max(score) over until_tokens end as best_score_by_tokens
    from scores
    window
        until_hour as (
            partition by cell, suite, harness_key order by hour range between unbounded preceding and current row
        ),
        until_tokens as (
            partition by cell, suite, harness_key
            order by driver_tokens_at_hour nulls last range between unbounded preceding and current row
        )
)

select
    cell,
    suite,
    model_id,
    harness,
    hour,
    driver_tokens_at_hour,
    score,
    gain,
    best_score_by_hour,
    best_score_by_tokens,
    score >= best_score_by_hour as is_best_by_hour,
    score >= best_score_by_tokens as is_best_by_tokens
from best
