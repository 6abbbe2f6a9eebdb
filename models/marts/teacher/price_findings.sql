-- Grain: one row per (kind, subject).
-- Decides what of the declared prices, and of calls that they do not price, a person should look at.
with calls as (
    select
        *,
        run_id || ' ' || coalesce(model, 'model unknown') as run_model
    from {{ ref('teacher_calls') }}
    where not is_diagnostic
),

starts as (
    select
        model_pattern,
        valid_from
    from {{ source('declared', 'model_prices') }}
    group by model_pattern, valid_from, coalesce(lower(service_tier), '')
    having count(*) > 1
),

final as (
    select
        'price_ambiguous' as kind,
        model as subject,
        'warn' as severity,
        'several declared prices fit equally well on ' || count(*) || ' days: its cost is unknown there' as detail,
        {{ findings_page('price_ambiguous') }} as remedy
    from {{ ref('call_prices') }}
    where is_ambiguous
    group by model
    union all
    select
        'price_starts_twice',
        model_pattern || ' ' || coalesce(cast(valid_from as string), 'always'),
        'warn',
        'declared/model_prices.csv gives this price more than once',
        {{ findings_page('price_starts_twice') }}
    from starts
    union all
    select distinct
        'price_negative',
        model_pattern,
        'warn',
        'declared/model_prices.csv gives it a negative price',
        {{ findings_page('price_negative') }}
    from {{ source('declared', 'model_prices') }}
    where
        false
        {%- for price in token_prices() %}
        or {{ price }} < 0
        {%- endfor %}
    union all
    select
        'unknown_cost',
        run_model,
        'warn',
        count(*) || ' calls have no known cost (first: ' || min(call_id) || '): without usage '
        || count(case when unknown_cost_reason = 'no_usage' then 1 end) || ', without one price that fits '
        || count(case when unknown_cost_reason in ('no_price', 'price_ambiguous') then 1 end)
        || ', with tokens that the price leaves out '
        || count(case when unknown_cost_reason = 'price_incomplete' then 1 end) || ', with counts that can not be '
        || count(case when unknown_cost_reason in ('token_conflict', 'impossible_tokens') then 1 end)
        || ', with searches ' || count(case when unknown_cost_reason = 'billed_searches' then 1 end),
        {{ findings_page('unknown_cost') }}
    from calls
    where cost_source = 'unknown'
    group by run_model
    union all
    select
        'price_incomplete',
        price_model_pattern || coalesce(' ' || service_tier, ''),
        'warn',
        count(*) || ' calls (first: ' || min(call_id) || ') need a price that its line leaves empty: '
        || coalesce(sum(cached_input_tokens), 0) || ' tokens read from a cache, '
        || coalesce(sum(cache_write_tokens), 0) || ' written to one, '
        || coalesce(sum(cache_write_1h_tokens), 0) || ' for an hour',
        {{ findings_page('price_incomplete') }}
    from calls
    where unknown_cost_reason = 'price_incomplete'
    group by price_model_pattern, service_tier
    union all
    select
        'call_time_unknown',
        run_model,
        'info',
        count(*) || ' calls do not say when they were made, so only prices without valid_from fit them',
        {{ findings_page('call_time_unknown') }}
    from calls
    where called_at is null
    group by run_model
)

select
    kind,
    subject,
    'teacher' as domain,
    severity,
    detail,
    remedy
from final
