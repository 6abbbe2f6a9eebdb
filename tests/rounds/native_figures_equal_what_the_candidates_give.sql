-- Protects: readers of ours_env/* curves.
-- Fails when: valid_rate, an outcome's count, behavior_advance_rate or candidate_anchor_improved differs from the kept
-- candidates.
-- Not a check of: other native metrics.
{{ config(severity = 'warn') }}

select
    subject,
    detail
from {{ ref('run_findings') }}
where kind in ('native_figure_differs')
