-- Protects: the chains of states: one candidate, chosen before execution, moves each on.
-- Fails when: a group has none or several.
-- Not a check of: whether the choice was made before execution.
{{ config(severity = 'warn') }}

select
    subject,
    detail
from {{ ref('candidate_findings') }}
where kind in ('wrong_behavior_count')
