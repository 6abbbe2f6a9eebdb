-- Grain: one row per (model_id, suite).
-- Decides which score stands, what it is compared with, and whether a cost per point may be stated.
with checkpoints as (
    select
        checkpoints.*,
        coalesce(cells.is_valid, true) as is_valid
    from {{ ref('checkpoints') }} as checkpoints
    left join {{ ref('cells') }} as cells on checkpoints.cell = cells.cell
),

baselines as (select * from {{ ref('suite_baselines') }}),

-- Of several scores the one that has a baseline, then a finite one, then the last in the files.
standing as (
    select *
    from {{ ref('score_candidates') }}
    where standing_rank = 1
),

asked as (
    select distinct
        checkpoints.cell,
        standing.suite
    from standing
    inner join checkpoints on standing.checkpoint_key = checkpoints.checkpoint_key
    where checkpoints.cell is not null
),

wanted as (
    select
        checkpoints.checkpoint_key,
        asked.suite
    from checkpoints
    inner join asked on checkpoints.cell = asked.cell
    union distinct
    select
        standing.checkpoint_key,
        standing.suite
    from standing
),

compared as (
    select
        checkpoints.model_id,
        checkpoints.cell,
        wanted.suite,
        standing.harness,
        standing.score,
        standing.baseline_score,
        case when standing.is_finite then standing.score - standing.baseline_score end as gain,
        coalesce(standing.is_finite, false) as is_scored,
        checkpoints.is_valid,
        checkpoints.eos_ok,
        checkpoints.hour,
        checkpoints.driver_tokens_at_hour
    from wanted
    inner join checkpoints on wanted.checkpoint_key = checkpoints.checkpoint_key
    left join standing on wanted.checkpoint_key = standing.checkpoint_key and wanted.suite = standing.suite
),

labelled as (
    select
        *,
        case
            when not is_valid then 'invalid_cell'
            when not is_scored then 'unscored'
            when not eos_ok then 'packaging'
            when eos_ok is null then 'unknown_packaging'
            when driver_tokens_at_hour is null then 'hour_unknown'
            when gain > 0 then 'ok'
            else 'no_gain'
        end as cost_status
    from compared
),

final as (
    select
        model_id,
        suite,
        cell,
        harness,
        score,
        baseline_score,
        gain,
        case when cost_status = 'ok' then driver_tokens_at_hour / nullif(gain, 0) end as cost_per_point,
        cost_status
    from labelled
    union all
    select
        model_id,
        suite,
        cast(null as string) as cell,
        harness,
        score,
        score as baseline_score,
        cast(0 as double) as gain,
        cast(null as double) as cost_per_point,
        'baseline' as cost_status
    from baselines
    where baseline_rank = 1
)

select * from final
