-- Protects: readers who plot a metric that was never filled.
-- Fails when: a metric is zero wherever it was logged.
-- Not a check of: metrics that are constant at another value.
{{ config(severity = 'warn') }}

select
    subject,
    detail
from {{ ref('curve_findings') }}
where kind = 'dead_metric'
