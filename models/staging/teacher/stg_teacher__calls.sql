-- Grain: one row per call that a line holds.
-- The forms of usage become one (macros/usage_forms.sql); a call without an id is named by its place.
with records as (
    select
        calls.*,
        sources.path as source,
        coalesce(nullif(trim(calls.model), ''), nullif(trim(calls.response_model), '')) as called_model,
        coalesce(calls.total_tokens, calls.total_token_count) as stated_total_tokens,
        {{ usage_form() }} as usage_form,
        -- What a router charges is never below the provider's price, but where one's own key paid that.
        coalesce(calls.is_byok, calls.upstream_cost_usd > calls.usage_cost, false) as is_fee,
        {{ finite_or_null('calls.cost_usd') }} as finite_cost_usd,
        {{ finite_or_null('calls.usage_cost') }} as finite_usage_cost,
        {{ finite_or_null('calls.upstream_cost_usd') }} as finite_upstream_cost
    from {{ source('teacher', 'teacher_call_records') }} as calls
    inner join {{ source('landing', 'landed_sources') }} as sources
        on calls.source_name = sources.source_name
),

parts as (
    select
        *,
        {{ usage_part('input') }} as form_input_tokens,
        try_cast({{ usage_part('cached') }} as bigint) as cached_input_tokens,
        try_cast({{ usage_part('cache_write') }} as bigint) as cache_write_tokens,
        try_cast({{ usage_part('cache_write_1h') }} as bigint) as cache_write_1h_tokens,
        {{ usage_part('output') }} as form_output_tokens,
        try_cast({{ usage_part('reasoning') }} as bigint) as stated_reasoning_tokens,
        coalesce({{ usage_part('contradiction') }}, false) as has_contradiction
    from records
),

totalled as (
    select
        *,
        -- What a stated total holds beside input and output.
        cast(stated_total_tokens as decimal(20, 0)) - form_input_tokens
        - coalesce(form_output_tokens, 0) as rest_tokens,
        coalesce(usage_form = 'anthropic' and stated_total_tokens - input_tokens = output_tokens, false)
            as is_total_without_cache
    from parts
),

explained as (
    select
        *,
        -- Gemini and xAI leave thinking out of the completion in their OpenAI-compatible usage, and in its total.
        coalesce(
            usage_form = 'openai'
            and rest_tokens > 0
            and form_output_tokens is not null
            and (rest_tokens = stated_reasoning_tokens or lower(called_model) like '%gemini%'), false
        ) as is_thinking_outside
    from totalled
)

select
    source_name,
    line_number,
    judge_idx,
    source,
    coalesce(
        nullif(call_id, ''),
        nullif(response_id, ''),
        source_name || ':' || line_number || coalesce(':' || judge_idx, '')
    ) as call_id,
    coalesce(nullif(run_id, ''), run_in_path, 'unknown') as reported_run_id,
    step,
    group_id,
    coalesce(nullif(role, ''), 'unknown') as role,
    called_model as model,
    -- Logs hold times such as 1.0 where the time was not known.
    case
        when created_at >= cast('{{ var("earliest_call_time") }}' as timestamp) then created_at
        when response_created_at >= cast('{{ var("earliest_call_time") }}' as timestamp) then response_created_at
    end as called_at,
    response_id,
    coalesce(is_policy_response, false) as is_policy_response,
    coalesce(response_object like '%chunk%' or response_object like 'response.%', false) as is_part_of_stream,
    nullif(regexp_replace(lower(service_tier), '^(auto|default|on_demand|standard)$', ''), '') as service_tier,
    case when is_thinking_outside then 'thinking_outside' else usage_form end as usage_form,
    try_cast(form_input_tokens as bigint) as input_tokens,
    cached_input_tokens,
    cache_write_tokens,
    cache_write_1h_tokens,
    -- The total is input and output by every definition: it tells an output that is not stated.
    try_cast(
        case
            when is_thinking_outside or (form_output_tokens is null and rest_tokens >= 0)
                then coalesce(form_output_tokens, 0) + rest_tokens
            else form_output_tokens
        end as bigint
    ) as output_tokens,
    case
        when not is_thinking_outside then stated_reasoning_tokens
        when coalesce(stated_reasoning_tokens, 0) in (0, rest_tokens) then try_cast(rest_tokens as bigint)
    end as reasoning_tokens,
    stated_total_tokens,
    has_contradiction
    or coalesce(
        rest_tokens <> 0 and not is_thinking_outside and not is_total_without_cache
        and not (form_output_tokens is null and rest_tokens > 0), false
    ) as has_token_conflict,
    search_count,
    case when is_fee then finite_upstream_cost else coalesce(finite_cost_usd, finite_usage_cost) end as stated_cost_usd,
    -- Only a positive figure is a report: loggers write 0.0 where they have no price.
    case
        when is_cache_hit and coalesce(finite_cost_usd, 0) = 0 then 0
        when finite_cost_usd > 0 and not (is_fee and finite_cost_usd is not distinct from finite_usage_cost)
            then finite_cost_usd
        when is_fee and finite_upstream_cost > 0 then finite_upstream_cost + greatest(coalesce(finite_usage_cost, 0), 0)
        when is_fee then null
        when finite_usage_cost > 0 then finite_usage_cost
        when cost_usd_ticks > 0 and cost_usd_ticks < cast('Infinity' as double) then cost_usd_ticks / 10000000000
    end as reported_cost_usd,
    case when is_fee and finite_usage_cost > 0 then finite_usage_cost end as fee_usd
from explained
