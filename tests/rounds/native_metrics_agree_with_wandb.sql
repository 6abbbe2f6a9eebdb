-- Protects: readers who plot either.
-- Fails when: a shared value differs (null, NaN and infinities being one).
-- Not a check of: metrics that only one of them has.
{{ config(severity = 'warn') }}

select
    subject,
    detail
from {{ ref('run_findings') }}
where kind in ('wandb_differs')
