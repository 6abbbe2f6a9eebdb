-- Grain: one row per (plan_name, run_id, policy, task).
-- Sums up the held-out attempts of each declared policy and task.
with plans as (
    select
        plans.plan_name,
        identities.run_id,
        plans.policy,
        plans.role,
        plans.task,
        plans.chain_count * plans.attempts_per_chain as expected_attempt_count,
        plans.attempts_per_chain,
        plans.chain_count,
        plans.is_lower_better,
        plans.rule
    from {{ source('declared', 'evaluation_plans') }} as plans
    inner join {{ ref('run_identities') }} as identities
        on plans.run_id = identities.reported_run_id
    where not identities.is_diagnostic
),

attempts as (
    select
        *,
        row_number() over (
            partition by run_id, policy, task, chain order by attempt desc
        ) as place_from_end
    from {{ ref('evaluation_attempts') }}
    where label = 'planned'
),

counted as (
    select
        run_id,
        policy,
        task,
        count(*) as attempt_count,
        count(distinct chain) as chain_count,
        count(case when is_valid then 1 end) as valid_count,
        count(*) - count(is_valid) as unknown_validity_count,
        min(case when is_valid then score end) as lowest_score,
        max(case when is_valid then score end) as highest_score,
        count(case when place_from_end = 1 and is_valid then 1 end) as final_valid_count,
        avg(case when place_from_end = 1 and is_valid then score end) as final_score
    from attempts
    group by run_id, policy, task
),

final as (
    select
        plans.plan_name,
        plans.run_id,
        plans.policy,
        plans.role,
        plans.task,
        plans.expected_attempt_count,
        coalesce(counted.attempt_count, 0) as attempt_count,
        coalesce(counted.valid_count, 0) as valid_count,
        coalesce(
            counted.attempt_count = plans.expected_attempt_count
            and counted.chain_count = plans.chain_count
            and counted.unknown_validity_count = 0,
            false
        ) as is_complete,
        case
            when plans.is_lower_better then counted.lowest_score
            when not plans.is_lower_better then counted.highest_score
        end as best_score,
        coalesce(counted.final_valid_count, 0) as final_valid_count,
        counted.final_score,
        plans.rule
    from plans
    left join counted
        on plans.run_id = counted.run_id and plans.policy = counted.policy and plans.task = counted.task
)

select * from final
