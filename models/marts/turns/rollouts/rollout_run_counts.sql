-- Grain: one row per run_name that has rollouts.
-- What became of the rollouts of each run.
with rollouts as (select * from {{ ref('rollouts') }}),

runs as (select * from {{ ref('rollout_runs') }}),

final as (
    select
        runs.run_name,
        runs.arm,
        runs.started_at,
        runs.model_name,
        count(*) as rollout_count,
        count(*) filter (where rollouts.drop_reason is null) as kept_rollout_count,
        count(*) filter (where rollouts.drop_reason = 'rolled_back') as rolled_back_rollout_count,
        count(*) filter (where rollouts.drop_reason = 'never_trained') as never_trained_rollout_count,
        count(*) filter (where rollouts.drop_reason = 'other_lineage') as other_lineage_rollout_count,
        count(*) filter (where rollouts.drop_reason = 'excluded') as excluded_rollout_count
    from rollouts
    inner join runs on rollouts.run_name = runs.run_name
    group by runs.run_name, runs.arm, runs.started_at, runs.model_name
)

select * from final
