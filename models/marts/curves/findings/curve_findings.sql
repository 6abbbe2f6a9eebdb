{%- set groups = [
    'lineage_findings', 'start_findings', 'concurrent_findings', 'repeat_findings', 'family_findings', 'axis_findings',
    'step_findings', 'unpositioned_findings', 'value_findings'
] %}
-- Grain: one row per (kind, subject).
-- What of the curves a person should look at.
{%- for group in groups %}
select
    kind,
    subject,
    'curves' as domain,
    severity,
    detail,
    remedy
from {{ ref(group) }}
{%- if not loop.last %}
union all
{%- endif %}
{%- endfor %}
