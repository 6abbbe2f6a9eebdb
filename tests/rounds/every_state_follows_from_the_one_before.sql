-- Protects: the chains of states.
-- Fails when: parent_result is neither the selected candidate's result (where it advanced the state) nor the parent
-- carried forward.
-- Not a check of: fields of the result other than score and outcome.
{{ config(severity = 'warn') }}

select
    subject,
    detail
from {{ ref('candidate_findings') }}
where kind in ('chain_broken')
