-- Grain: one row per line of a file of candidates (source_name, line_number); kept rows are one per
-- (run_id, step, group_id, sibling_index).
-- Decides which lines count: not those of an interrupted attempt, and of two lines of one sibling the later.
with lines as (
    select
        candidates.*,
        identities.run_id,
        identities.is_diagnostic
    from {{ ref('stg_rounds__candidates') }} as candidates
    inner join {{ ref('run_identities') }} as identities
        on candidates.reported_run_id = identities.reported_run_id
),

costs as (
    select
        source_name,
        line_number,
        count(*) as role_count,
        count(cost_usd) as known_role_count,
        {{ exact_sum('cost_usd') }} as known_cost_usd
    from {{ ref('stg_rounds__candidate_costs') }}
    group by source_name, line_number
),

ordered as (
    select
        *,
        attempt is not null as is_interrupted,
        row_number() over (
            partition by run_id, step, group_id, sibling_index, attempt
            order by modified_at desc, source desc, line_number desc
        ) as recency
    from lines
),

labelled as (
    select
        *,
        case
            when is_interrupted then 'interrupted_attempt'
            when recency > 1 then 'duplicate'
        end as drop_reason
    from ordered
),

averaged as (
    select
        *,
        avg(reward) over group_siblings as group_mean_reward,
        count(*) over group_siblings as sibling_count
    from labelled
    window
        group_siblings as (
            partition by run_id, step, group_id, attempt, drop_reason
            order by sibling_index, source, line_number
            rows between unbounded preceding and unbounded following
        )
),

final as (
    select
        averaged.run_id,
        averaged.step,
        averaged.group_id,
        averaged.sibling_index,
        averaged.round,
        averaged.attempt,
        averaged.task,
        averaged.chain,
        averaged.unit,
        averaged.drop_reason,
        averaged.is_diagnostic,
        averaged.is_valid,
        averaged.outcome,
        averaged.score,
        averaged.parent_outcome,
        averaged.parent_score,
        averaged.is_better_than_anchor,
        averaged.debug_streak,
        averaged.reward_rule,
        averaged.has_penalty,
        averaged.ropd_q,
        averaged.group_mean_q,
        averaged.reward,
        averaged.group_mean_reward,
        averaged.grpo_reward_mean,
        averaged.advantage,
        averaged.advantage - (averaged.reward - averaged.group_mean_reward) as advantage_error,
        averaged.sibling_count,
        averaged.is_behavior,
        averaged.behavior_index,
        averaged.behavior_action,
        averaged.teacher_call_count,
        averaged.cost_usd,
        case when costs.role_count = costs.known_role_count then costs.known_cost_usd end as cost_by_role_usd,
        averaged.global_step,
        averaged.prompt_sha256,
        averaged.code_sha256,
        averaged.recorded_at,
        averaged.source,
        averaged.source_name,
        averaged.line_number
    from averaged
    left join costs
        on averaged.source_name = costs.source_name and averaged.line_number = costs.line_number
)

select * from final
