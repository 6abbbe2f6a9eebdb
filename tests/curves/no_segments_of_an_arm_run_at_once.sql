-- Protects: arms, from being the shared default name of unrelated jobs.
-- Fails when: a segment of an arm starts before an earlier one ended.
-- Not a check of: clocks that differ between machines.
{{ config(severity = 'warn') }}

select
    subject,
    detail
from {{ ref('curve_findings') }}
where kind = 'concurrent_segments'
