-- Protects: costs: two prices of one day would leave them to chance.
-- Fails when: declared/model_prices.csv gives a pattern's price for one day twice.
-- Not a check of: prices that are missing.
{{ config(severity = 'warn') }}

select
    subject,
    detail
from {{ ref('price_findings') }}
where kind in ('price_starts_twice', 'price_ambiguous')
