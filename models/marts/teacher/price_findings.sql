-- Grain: one row per (kind, subject).
-- Decides what of the declared prices a person should look at.
with starts as (
    select
        model_pattern,
        valid_from
    from {{ source('declared', 'model_prices') }}
    group by model_pattern, valid_from
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
        input_usd_per_million < 0
        or cached_input_usd_per_million < 0
        or output_usd_per_million < 0
)

select
    kind,
    subject,
    'teacher' as domain,
    severity,
    detail,
    remedy
from final
