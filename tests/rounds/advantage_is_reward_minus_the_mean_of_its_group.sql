-- Protects: readers who take the advantage for the one the rewards give.
-- Fails when: they differ by more than the var advantage_tolerance.
-- Not a check of: whether the reward itself is right.
{{ config(severity = 'warn') }}

select
    subject,
    detail
from {{ ref('candidate_findings') }}
where kind in ('advantage_differs')
