-- Protects: denominators: a share of eighty means nothing where candidates are missing.
-- Fails when: a group has another number of kept siblings, or a round another number of groups, than the vars say.
-- Not a check of: interrupted attempts and duplicates, which are labelled and not counted.
{{ config(severity = 'warn') }}

select
    subject,
    detail
from {{ ref('candidate_findings') }}
where kind in ('wrong_sibling_count', 'wrong_group_count')
