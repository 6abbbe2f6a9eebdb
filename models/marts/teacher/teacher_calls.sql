-- Grain: one row per call_id.
-- Decides the cost of each call: reported where positive, else priced, else unknown (null). Cached tokens are part of
-- input and billed once, at their own price; reasoning tokens are part of output.
with calls as (
    select
        *,
        coalesce(cached_input_tokens, 0) as billed_cached_tokens
    from {{ ref('teacher_call_rows') }}
    where drop_reason is null
),

priced as (
    select
        calls.*,
        prices.model_pattern as price_model_pattern,
        prices.valid_from as price_valid_from,
        case
            when
                calls.input_tokens >= calls.billed_cached_tokens
                and calls.billed_cached_tokens >= 0
                and calls.output_tokens >= 0
                then (
                    (calls.input_tokens - calls.billed_cached_tokens) * prices.input_usd_per_million
                    + case
                        when calls.billed_cached_tokens = 0 then 0
                        else calls.billed_cached_tokens * prices.cached_input_usd_per_million
                    end
                    + calls.output_tokens * prices.output_usd_per_million
                ) / 1000000
        end as priced_cost_usd
    from calls
    left join {{ ref('call_prices') }} as prices
        on
            calls.model = prices.model
            and cast(calls.called_at as date) is not distinct from prices.called_on
),

final as (
    select
        call_id,
        run_id,
        step,
        group_id,
        role,
        model,
        called_at,
        input_tokens,
        cached_input_tokens,
        output_tokens,
        reasoning_tokens,
        coalesce(reported_cost_usd, priced_cost_usd) as cost_usd,
        case
            when reported_cost_usd is not null then 'reported'
            when priced_cost_usd is not null then 'priced'
            else 'unknown'
        end as cost_source,
        stated_cost_usd,
        price_model_pattern,
        price_valid_from,
        is_diagnostic,
        source,
        source_name,
        line_number,
        judge_idx
    from priced
)

select * from final
