-- Protects: prices: what they are multiplied with.
-- Fails when: a call states a negative count, more cached than input tokens, or more reasoning than output tokens.
-- Not a check of: calls without usage.
{{ config(severity = 'warn') }}

select
    subject,
    detail
from {{ ref('teacher_findings') }}
where kind in ('negative_tokens', 'impossible_tokens')
