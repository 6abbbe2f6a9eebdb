{%- set parts = [
    'checkpoint_hour_findings', 'checkpoint_packaging_findings', 'checkpoint_content_findings',
    'checkpoint_score_findings', 'suite_findings', 'cell_findings', 'driver_findings'
] %}
-- Grain: one row per (kind, subject).
-- What about checkpoints, cells and scores a person should look at.
{%- for part in parts %}
select
    kind,
    subject,
    'checkpoints' as domain,
    severity,
    detail,
    remedy
from {{ ref(part) }}
{%- if not loop.last %}
union all
{%- endif %}
{%- endfor %}
