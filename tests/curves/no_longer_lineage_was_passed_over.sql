-- Protects: long runs, from being replaced by a short relaunch unnoticed.
-- Fails when: a lineage that is not the curve has more logged steps than the one that is.
-- Not a check of: which of the two is right: declare `leaf_run_id`.
{{ config(severity = 'warn') }}

select
    subject,
    detail
from {{ ref('curve_findings') }}
where kind = 'longer_lineage_not_chosen'
