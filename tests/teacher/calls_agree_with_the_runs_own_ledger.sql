-- Protects: either sum.
-- Fails when: both sides are known for a step and role and differ, or one side is missing.
-- Not a check of: steps with an unknown cost, which have no verdict.
{{ config(severity = 'warn') }}

select
    subject,
    detail
from {{ ref('teacher_findings') }}
where kind in ('ledger_differs')
