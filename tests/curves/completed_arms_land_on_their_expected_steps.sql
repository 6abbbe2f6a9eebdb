-- Protects: the stitch as a whole. An arm that is complete has exactly the steps that were declared.
-- Fails when: an arm that is not declared as running has another number of steps than `expected_step_count`.
-- Not a check of: arms without a declared count.
{{ config(severity = 'warn') }}

select
    subject,
    detail
from {{ ref('curve_findings') }}
where kind = 'unexpected_step_count'
