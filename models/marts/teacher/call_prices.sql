-- Grain: one row per (model, called_on), null being unknown.
-- Decides the price of a model on a day: of the declared patterns in force the longest that matches, then its latest.
with models as (
    select distinct
        model,
        cast(called_at as date) as called_on
    from {{ ref('teacher_call_rows') }}
    where model is not null
),

prices as (
    select distinct
        model_pattern,
        valid_from,
        -- A price below zero is none.
        case when input_usd_per_million >= 0 then input_usd_per_million end as input_usd_per_million,
        case
            when cached_input_usd_per_million >= 0 then cached_input_usd_per_million
        end as cached_input_usd_per_million,
        case when output_usd_per_million >= 0 then output_usd_per_million end as output_usd_per_million
    from {{ source('declared', 'model_prices') }}
),

matched as (
    select
        models.model,
        models.called_on,
        prices.model_pattern,
        prices.valid_from,
        prices.input_usd_per_million,
        prices.cached_input_usd_per_million,
        prices.output_usd_per_million,
        rank() over (
            partition by models.model, models.called_on
            order by length(prices.model_pattern) desc, prices.valid_from desc nulls last
        ) as preference
    from models
    inner join prices
        on
            {{ matches_glob('models.model', 'prices.model_pattern') }}
            and (prices.valid_from is null or models.called_on >= prices.valid_from)
),

final as (
    select
        model,
        called_on,
        min(model_pattern) as model_pattern,
        min(valid_from) as valid_from,
        -- Two prices that are equally good leave the price unknown.
        case when count(*) = 1 then min(input_usd_per_million) end as input_usd_per_million,
        case when count(*) = 1 then min(cached_input_usd_per_million) end as cached_input_usd_per_million,
        case when count(*) = 1 then min(output_usd_per_million) end as output_usd_per_million,
        count(*) > 1 as is_ambiguous
    from matched
    where preference = 1
    group by model, called_on
)

select * from final
