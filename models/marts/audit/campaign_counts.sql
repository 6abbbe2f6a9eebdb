-- Grain: one row per thing counted.
-- The campaign in a few numbers: those of formal runs, and how many diagnostic ones stand beside them.
{%- set formal = "coalesce(run_id, '') not in (select run_id from " ~ ref('runs') ~ " where is_diagnostic)" %}
{%- set counted = [
    ('arms', 'arms', 'not is_diagnostic'),
    ('runs', 'runs', 'not is_diagnostic'),
    ('diagnostic_runs', 'runs', 'is_diagnostic'),
    ('logged_rows', 'run_rows', formal),
    ('kept_rows', 'run_rows', 'drop_reason is null and ' ~ formal),
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
