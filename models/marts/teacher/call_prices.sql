-- Grain: one row per (model, called_on, service_tier), null being unknown or the standard tier.
-- Decides the price of a model on a day: of the declared patterns in force the longest that matches, then its latest.
with models as (
    select distinct
        model,
        cast(called_at as date) as called_on,
        service_tier
    from {{ ref('teacher_call_rows') }}
    where model is not null
),

prices as (
    select distinct
        model_pattern,
        valid_from,
        -- A price below zero is none.
        {%- for price in token_prices() %}
        case when {{ price }} >= 0 then {{ price }} end as {{ price }},
        {%- endfor %}
        case when lower(service_tier) not in ('', 'standard') then lower(service_tier) end as service_tier
    from {{ source('declared', 'model_prices') }}
),

matched as (
    select
        models.model,
        models.called_on,
        prices.model_pattern,
        prices.valid_from,
        models.service_tier,
        {%- for price in token_prices() %}
        prices.{{ price }},
        {%- endfor %}
        rank() over (
            partition by models.model, models.called_on, models.service_tier
            order by length(prices.model_pattern) desc, prices.valid_from desc nulls last
        ) as preference
    from models
    inner join prices
        on
            {{ matches_glob('models.model', 'prices.model_pattern') }}
            and (prices.valid_from is null or models.called_on >= prices.valid_from)
            and models.service_tier is not distinct from prices.service_tier
),

final as (
    select
        model,
        called_on,
        service_tier,
        min(model_pattern) as model_pattern,
        min(valid_from) as valid_from,
        -- Two prices that are equally good leave the price unknown.
        {%- for price in token_prices() %}
        case when count(*) = 1 then min({{ price }}) end as {{ price }},
        {%- endfor %}
        count(*) > 1 as is_ambiguous
    from matched
    where preference = 1
    group by model, called_on, service_tier
)

select * from final
