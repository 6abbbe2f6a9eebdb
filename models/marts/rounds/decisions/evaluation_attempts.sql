-- Grain: one row per attempt in an evaluation file (source_name, entry_number); planned ones are one per
-- (run_id, policy, task, chain, attempt).
-- Decides which attempts count: those of a declared plan, the last entry of each.
with attempts as (
    select
        entries.*,
        identities.run_id,
        identities.is_diagnostic,
        sources.source
    from {{ ref('stg_rounds__evaluation_attempts') }} as entries
    inner join {{ ref('run_identities') }} as identities
        on entries.reported_run_id = identities.reported_run_id
    inner join {{ ref('stg_landing__sources') }} as sources
        on entries.source_name = sources.source_name
),

plans as (
    select distinct
        identities.run_id,
        plans.policy,
        plans.task
    from {{ source('declared', 'evaluation_plans') }} as plans
    inner join {{ ref('run_identities') }} as identities
        on plans.run_id = identities.reported_run_id
),

ordered as (
    select
        *,
        row_number() over (
            partition by run_id, policy, task, chain, attempt
            order by source desc, entry_number desc
        ) as recency
    from attempts
),

final as (
    select
        ordered.run_id,
        ordered.policy,
        ordered.task,
        ordered.chain,
        ordered.attempt,
        case
            when plans.run_id is null then 'unplanned'
            when ordered.recency > 1 then 'duplicate'
            else 'planned'
        end as label,
        ordered.is_valid,
        ordered.score,
        ordered.outcome,
        ordered.is_diagnostic,
        ordered.source,
        ordered.source_name,
        ordered.entry_number
    from ordered
    left join plans
        on ordered.run_id = plans.run_id and ordered.policy = plans.policy and ordered.task = plans.task
)

select * from final
