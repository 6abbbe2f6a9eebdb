-- Grain: one row per (run_id, step, role), a null step being unknown.
-- Compares the calls with the run's own ledger; no verdict where either side has an unknown cost.
with ledger as (
    select
        identities.run_id,
        spend.step,
        spend.role,
        count(*) as ledger_row_count,
        {{ exact_sum('spend.cost_usd') }} as ledger_cost_usd,
        count(*) - count(spend.cost_usd) as ledger_unknown_cost_row_count
    from {{ ref('stg_teacher__spend') }} as spend
    inner join {{ ref('run_identities') }} as identities
        on spend.reported_run_id = identities.reported_run_id
    where not identities.is_diagnostic
    group by identities.run_id, spend.step, spend.role
),

ledger_runs as (select distinct run_id from ledger),

costs as (
    select teacher_costs.*
    from {{ ref('teacher_costs') }} as teacher_costs
    inner join ledger_runs on teacher_costs.run_id = ledger_runs.run_id
),

final as (
    select
        coalesce(costs.run_id, ledger.run_id) as run_id,
        coalesce(costs.step, ledger.step) as step,
        coalesce(costs.role, ledger.role) as role,
        coalesce(costs.call_count, 0) as call_count,
        costs.known_cost_usd,
        coalesce(costs.unknown_cost_call_count, 0) as unknown_cost_call_count,
        coalesce(ledger.ledger_row_count, 0) as ledger_row_count,
        ledger.ledger_cost_usd,
        coalesce(ledger.ledger_unknown_cost_row_count, 0) as ledger_unknown_cost_row_count,
        ledger.ledger_cost_usd - costs.known_cost_usd as difference_usd,
        case
            when costs.run_id is null or ledger.run_id is null then false
            when costs.unknown_cost_call_count = 0 and ledger.ledger_unknown_cost_row_count = 0
                then abs(ledger.ledger_cost_usd - costs.known_cost_usd) <= {{ var('ledger_tolerance_usd') }}
        end as agrees
    from costs
    full join ledger
        on
            costs.run_id = ledger.run_id
            and costs.step is not distinct from ledger.step
            and costs.role = ledger.role
)

select * from final
