-- Protects: comparisons of what cells handed in.
-- Fails when: a cell whose run has ended has no SUBMITTED checkpoint, or several.
-- Not a check of: cells that still run, and cells known from a manifest alone.
{{ config(severity = 'warn') }}

select
    subject,
    detail
from {{ ref('checkpoint_findings') }}
where kind = 'cell_without_submission'
