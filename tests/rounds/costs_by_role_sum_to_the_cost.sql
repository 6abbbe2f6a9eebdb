-- Protects: the budget of a round.
-- Fails when: cost_usd and the sum of cost_by_role differ on a candidate where both are known.
-- Not a check of: costs that are unknown.
{{ config(severity = 'warn') }}

select
    subject,
    detail
from {{ ref('candidate_findings') }}
where kind in ('cost_by_role_differs')
