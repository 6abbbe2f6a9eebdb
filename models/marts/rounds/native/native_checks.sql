-- Grain: one row per (run_id, step, metric).
-- Compares the trainer's own figures of validity (`ours_env/*`) with what the kept candidates give.
with steps as (
    select
        run_id,
        step,
        count(*) as candidate_count,
        count(case when is_valid then 1 end) as valid_count,
        count(case when is_better_than_anchor then 1 end) as improved_count
    from {{ ref('candidates') }}
    where drop_reason is null and not is_diagnostic
    group by run_id, step
),

advances as (
    select
        run_id,
        step,
        count(case when is_advance then 1 end) / cast(nullif(count(*), 0) as double) as advance_fraction
    from {{ ref('candidate_groups') }}
    group by run_id, step
),

native as (
    select
        run_id,
        step,
        metric,
        native_value
    from {{ ref('training_metrics') }}
    where
        metric in (
            'ours_env/valid_rate', 'ours_env/candidate_anchor_improved', 'ours_env/candidate_anchor_improved_rate',
            'ours_env/behavior_advance_rate'
        )
        or metric like 'ours_env/outcome/%'
),

outcome_steps as (
    select distinct
        run_id,
        step
    from native
    where metric like 'ours_env/outcome/%'
),

given as (
    select
        run_id,
        step,
        'ours_env/valid_rate' as metric,
        valid_count / cast(candidate_count as double) as candidate_value
    from steps
    union all
    select
        run_id,
        step,
        'ours_env/candidate_anchor_improved',
        cast(improved_count as double)
    from steps
    union all
    select
        run_id,
        step,
        'ours_env/candidate_anchor_improved_rate',
        improved_count / cast(candidate_count as double)
    from steps
    union all
    select
        run_id,
        step,
        'ours_env/behavior_advance_rate',
        advance_fraction
    from advances
    union all
    select
        outcomes.run_id,
        outcomes.step,
        'ours_env/outcome/' || outcomes.outcome,
        cast(outcomes.candidate_count as double)
    from {{ ref('round_outcomes') }} as outcomes
),

compared as (
    select
        coalesce(native.run_id, given.run_id) as run_id,
        coalesce(native.step, given.step) as step,
        coalesce(native.metric, given.metric) as metric,
        native.metric is not null as is_logged,
        native.native_value,
        -- An outcome that no candidate has is a count of zero.
        case
            when given.metric is null and native.metric like 'ours_env/outcome/%' then cast(0 as double)
            else given.candidate_value
        end as candidate_value
    from native
    full join given
        on native.run_id = given.run_id and native.step = given.step and native.metric = given.metric
),

final as (
    select
        compared.run_id,
        compared.step,
        compared.metric,
        compared.native_value,
        compared.candidate_value,
        coalesce(
            abs(compared.native_value - compared.candidate_value) <= {{ var('native_tolerance') }}, false
        ) as agrees
    from compared
    inner join steps on compared.run_id = steps.run_id and compared.step = steps.step
    left join outcome_steps on compared.run_id = outcome_steps.run_id and compared.step = outcome_steps.step
    where
        compared.is_logged
        or (compared.metric like 'ours_env/outcome/%' and outcome_steps.run_id is not null)
)

select * from final
