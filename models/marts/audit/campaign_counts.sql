-- Grain: one row per thing counted.
-- The campaign in a few numbers.
{%- set counted = [
    ('arms', 'arms', none),
    ('runs', 'runs', none),
    ('logged_rows', 'run_rows', none),
    ('kept_rows', 'run_rows', 'drop_reason is null'),
    ('rollouts', 'rollouts', none),
    ('candidates', 'candidates', none),
    ('kept_candidates', 'candidates', 'drop_reason is null and not is_diagnostic'),
    ('teacher_calls', 'teacher_calls', none),
    ('checkpoints', 'checkpoints', none),
    ('warnings', 'findings', "severity <> 'info'"),
    ('unreadable_records', 'quarantined_records', none)
] %}
{%- for thing, mart, condition in counted %}
select
    '{{ thing }}' as thing,
    count(*) as thing_count
from {{ ref(mart) }}
{%- if condition %}
where {{ condition }}
{%- endif %}
{%- if not loop.last %}
union all
{%- endif %}
{%- endfor %}
