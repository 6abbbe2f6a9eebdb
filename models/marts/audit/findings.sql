{%- set domains = [
    'curve_findings', 'history_findings', 'summary_findings', 'rollout_findings', 'turn_findings',
    'candidate_findings', 'run_findings', 'decision_findings', 'teacher_findings', 'price_findings', 'checkpoint_findings'
] %}
-- Grain: one row per (kind, subject).
-- What a person should look at, from every domain, in one place.
{%- for domain in domains %}
select
    kind,
    subject,
    domain,
    severity,
    detail,
    remedy
from {{ ref(domain) }}
{%- if not loop.last %}
union all
{%- endif %}
{%- endfor %}
