-- Grain: one row per (run_id, step, role), a null step being unknown.
-- Sums up the calls of formal runs; unknown costs are counted, never taken as zero.
select
    run_id,
    step,
    role,
    count(*) as call_count,
    {{ exact_sum('cost_usd') }} as known_cost_usd,
    count(case when cost_source = 'unknown' then 1 end) as unknown_cost_call_count,
    count(case when cost_source = 'reported' then 1 end) as reported_cost_call_count,
    count(case when cost_source = 'priced' then 1 end) as priced_cost_call_count,
    try_cast(sum(input_tokens) as bigint) as known_input_tokens,
    try_cast(sum(cached_input_tokens) as bigint) as known_cached_input_tokens,
    try_cast(sum(output_tokens) as bigint) as known_output_tokens,
    try_cast(sum(reasoning_tokens) as bigint) as known_reasoning_tokens
from {{ ref('teacher_calls') }}
where not is_diagnostic
group by run_id, step, role
