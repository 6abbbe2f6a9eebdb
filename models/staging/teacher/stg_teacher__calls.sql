-- Grain: one row per call that a line holds.
-- The shapes of usage become one; a call without an id is named by its place.
select
    calls.source_name,
    calls.line_number,
    calls.judge_idx,
    sources.path as source,
    coalesce(
        nullif(calls.call_id, ''),
        nullif(calls.response_id, ''),
        calls.source_name || ':' || calls.line_number || coalesce(':' || calls.judge_idx, '')
    ) as call_id,
    coalesce(nullif(calls.run_id, ''), calls.run_in_path, 'unknown') as reported_run_id,
    calls.step,
    calls.group_id,
    coalesce(nullif(calls.role, ''), 'unknown') as role,
    coalesce(nullif(trim(calls.model), ''), nullif(trim(calls.response_model), '')) as model,
    -- Logs hold times such as 1.0 where the time was not known.
    case
        when calls.created_at >= cast('{{ var("earliest_call_time") }}' as timestamp) then calls.created_at
        when calls.response_created_at >= cast('{{ var("earliest_call_time") }}' as timestamp)
            then calls.response_created_at
    end as called_at,
    coalesce(calls.input_tokens, calls.prompt_tokens) as input_tokens,
    coalesce(calls.input_cached_tokens, calls.prompt_cached_tokens) as cached_input_tokens,
    coalesce(calls.output_tokens, calls.completion_tokens) as output_tokens,
    coalesce(calls.output_reasoning_tokens, calls.completion_reasoning_tokens) as reasoning_tokens,
    coalesce({{ finite_or_null('calls.cost_usd') }}, {{ finite_or_null('calls.usage_cost') }}) as stated_cost_usd,
    -- Only a positive figure is a report: loggers write 0.0 where they have no price.
    case
        when calls.cost_usd > 0 and calls.cost_usd < cast('Infinity' as double) then calls.cost_usd
        when calls.usage_cost > 0 and calls.usage_cost < cast('Infinity' as double) then calls.usage_cost
    end as reported_cost_usd
from {{ source('teacher', 'teacher_call_records') }} as calls
inner join {{ source('landing', 'landed_sources') }} as sources
    on calls.source_name = sources.source_name
