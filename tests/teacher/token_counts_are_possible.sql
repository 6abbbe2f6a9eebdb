-- Protects: prices: what they are multiplied with.
-- Fails when: a call states a negative count, more cached than input tokens, more reasoning than output tokens, or
-- a total that its parts do not give.
-- Not a check of: calls without usage.
{{ config(severity = 'warn') }}

select
    subject,
    detail
from {{ ref('teacher_findings') }}
where kind in ('negative_tokens', 'impossible_tokens', 'token_conflict')
