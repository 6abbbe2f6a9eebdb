-- Grain: one row per (kind, subject).
-- Decides what of the teacher's calls and costs a person should look at.
with calls as (
    select
        *,
        run_id || ' ' || coalesce(model, 'model unknown') as run_model
    from {{ ref('teacher_calls') }}
    where not is_diagnostic
),

call_rows as (select * from {{ ref('teacher_call_rows') }}),

final as (
    select
        'token_conflict' as kind,
        run_model as subject,
        'warn' as severity,
        count(*) || ' calls state a total or a sum that their parts do not give (first: ' || min(call_id)
        || '); they are not priced' as detail,
        {{ findings_page('token_conflict') }} as remedy
    from calls
    where has_token_conflict
    group by run_model
    union all
    select
        'zero_cost_reported',
        run_model,
        'info',
        count(*) || ' calls report a cost of zero or less; it is taken as not known, not as free',
        {{ findings_page('zero_cost_reported') }}
    from calls
    where stated_cost_usd <= 0 and cost_source <> 'reported'
    group by run_model
    union all
    select
        'negative_tokens',
        run_model,
        'warn',
        count(*) || ' calls state a negative number of tokens (first: ' || min(call_id) || '); they are not priced',
        {{ findings_page('negative_tokens') }}
    from calls
    where input_tokens < 0 or cached_input_tokens < 0 or output_tokens < 0 or reasoning_tokens < 0
    group by run_model
    union all
    select
        'impossible_tokens',
        run_model,
        'warn',
        count(*) || ' calls state more cached than input tokens, or more reasoning than output tokens (first: '
        || min(call_id) || ')',
        {{ findings_page('impossible_tokens') }}
    from calls
    where cached_input_tokens > input_tokens or reasoning_tokens > output_tokens
    group by run_model
    union all
    select
        'retried_calls',
        run_id,
        'info',
        count(*) || ' rows are earlier tries of a call, ' || count(case when has_usage then 1 end)
        || ' of them with usage of their own; the last with usage stands',
        {{ findings_page('retried_calls') }}
    from call_rows
    where drop_reason = 'retried'
    group by run_id
    union all
    select
        'repeated_calls',
        run_id,
        'info',
        count(*) || ' rows are responses that were written before, each counts once (first: ' || min(call_id) || ')',
        {{ findings_page('repeated_calls') }}
    from call_rows
    where drop_reason = 'repeated'
    group by run_id
    union all
    select
        'policy_responses',
        run_id,
        'info',
        count(*) || ' lines hold the policy''s own response and no call of a judge; they are no calls of a teacher',
        {{ findings_page('policy_responses') }}
    from call_rows
    where drop_reason = 'policy_response'
    group by run_id
    union all
    select
        'call_id_in_two_runs',
        call_id,
        'warn',
        'rows of ' || count(distinct run_id) || ' runs share this id; only one counts',
        {{ findings_page('call_id_in_two_runs') }}
    from call_rows
    where drop_reason is distinct from 'policy_response'
    group by call_id
    having count(distinct run_id) > 1
    union all
    select
        'ledger_differs',
        run_id || ' step ' || coalesce(cast(step as string), 'unknown') || ' ' || role,
        'warn',
        'the calls give ' || coalesce(cast(known_cost_usd as string), 'no known cost') || ' USD, the run''s own ledger '
        || coalesce(cast(ledger_cost_usd as string), 'no known cost'),
        {{ findings_page('ledger_differs') }}
    from {{ ref('teacher_spend_reconciliation') }}
    where not agrees
)

select
    kind,
    subject,
    'teacher' as domain,
    severity,
    detail,
    remedy
from final
