-- Grain: one row per (model_id, suite) of a cell.
-- Lays each score beside what it is drawn over: hours, driver tokens, packaging, and the best score so far.
with scores as (
    select * from {{ ref('checkpoint_scores') }}
    where cell is not null
),

checkpoints as (select * from {{ ref('checkpoints') }}),

cells as (select * from {{ ref('cells') }}),

frontier as (select * from {{ ref('frontier_scores') }}),

final as (
    select
        scores.model_id,
        scores.suite,
        scores.cell,
        scores.harness,
        scores.score,
        scores.baseline_score,
        scores.gain,
        scores.cost_per_point,
        scores.cost_status,
        checkpoints.hour,
        checkpoints.hour_source,
        checkpoints.driver_tokens_at_hour,
        checkpoints.eos_ok,
        frontier.best_score_by_hour,
        frontier.best_score_by_tokens,
        coalesce(cells.is_plotted, true) as is_plotted,
        coalesce(cells.is_valid, true) as is_valid
    from scores
    inner join checkpoints on scores.model_id = checkpoints.model_id
    left join cells on scores.cell = cells.cell
    left join frontier
        on scores.cell = frontier.cell and scores.suite = frontier.suite and scores.model_id = frontier.model_id
)

select * from final
