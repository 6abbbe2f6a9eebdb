-- Protects: gains and frontiers: a harness changes scores by more than training does.
-- Fails when: a suite was scored under two harnesses, or under one that no baseline is declared for.
-- Not a check of: scores that do not say what ran them.
{{ config(severity = 'warn') }}

select
    subject,
    detail
from {{ ref('checkpoint_findings') }}
where kind = 'harness_differs'
