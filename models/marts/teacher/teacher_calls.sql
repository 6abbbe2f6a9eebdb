-- Grain: one row per call_id.
-- Decides the cost of each call: reported where positive, else priced, else unknown (null). Tokens read from a cache or
-- written to it are part of input and billed once, at their own price; reasoning tokens are part of output.
with calls as (
    select
        *,
        cast(input_tokens as decimal(20, 0)) - coalesce(cached_input_tokens, 0) - coalesce(cache_write_tokens, 0)
        - coalesce(cache_write_1h_tokens, 0) as fresh_tokens,
        least(
            output_tokens, coalesce(cached_input_tokens, 0), coalesce(cache_write_tokens, 0),
            coalesce(cache_write_1h_tokens, 0)
        ) < 0 as has_negative_part
    from {{ ref('teacher_call_rows') }}
    where drop_reason is null
),

multiplied as (
    select
        calls.*,
        prices.model_pattern as price_model_pattern,
        prices.valid_from as price_valid_from,
        prices.model is not null as has_price,
        prices.is_ambiguous as is_price_ambiguous,
        (
            {{ tokens_price('calls.fresh_tokens', 'prices.input_usd_per_million') }}
            + {{ tokens_price('calls.cached_input_tokens', 'prices.cached_input_usd_per_million') }}
            + {{ tokens_price('calls.cache_write_tokens', 'prices.cache_write_usd_per_million') }}
            + {{ tokens_price('calls.cache_write_1h_tokens', 'prices.cache_write_1h_usd_per_million') }}
            + case
                when prices.reasoning_usd_per_million is null
                    then {{ tokens_price('calls.output_tokens', 'prices.output_usd_per_million') }}
                else
                    (calls.output_tokens - calls.reasoning_tokens) * prices.output_usd_per_million
                    + calls.reasoning_tokens * prices.reasoning_usd_per_million
            end
        ) / 1000000 as price_usd
    from calls
    left join {{ ref('call_prices') }} as prices
        on
            calls.model = prices.model
            and cast(calls.called_at as date) is not distinct from prices.called_on
            and calls.service_tier is not distinct from prices.service_tier
),

judged as (
    select
        *,
        case
            when reported_cost_usd is not null then null
            when input_tokens is null or output_tokens is null then 'no_usage'
            when has_token_conflict then 'token_conflict'
            when fresh_tokens < 0 or has_negative_part then 'impossible_tokens'
            when not has_price then 'no_price'
            when is_price_ambiguous then 'price_ambiguous'
            when search_count > 0 then 'billed_searches'
            when price_usd is null then 'price_incomplete'
        end as unknown_cost_reason
    from multiplied
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
        cache_write_tokens,
        cache_write_1h_tokens,
        output_tokens,
        reasoning_tokens,
        case
            when reported_cost_usd is not null then reported_cost_usd
            when unknown_cost_reason is null then price_usd + coalesce(fee_usd, 0)
        end as cost_usd,
        case
            when reported_cost_usd is not null then 'reported'
            when unknown_cost_reason is null then 'priced'
            else 'unknown'
        end as cost_source,
        unknown_cost_reason,
        stated_cost_usd,
        stated_total_tokens,
        usage_form,
        has_token_conflict,
        search_count,
        service_tier,
        price_model_pattern,
        price_valid_from,
        is_diagnostic,
        source,
        source_name,
        line_number,
        judge_idx
    from judged
)

select * from final
