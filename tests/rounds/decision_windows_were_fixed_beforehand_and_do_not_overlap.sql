-- Protects: verdicts that can not be argued with.
-- Fails when: a window overlaps another of its run, names a run without candidates, or was registered after its first
-- candidate.
-- Not a check of: whether the window is complete.
{{ config(severity = 'warn') }}

select
    subject,
    detail
from {{ ref('decision_findings') }}
where kind in ('windows_overlap', 'window_of_unknown_run', 'window_not_preregistered')
