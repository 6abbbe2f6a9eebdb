-- Grain: one row per line of a run's own ledger.
select
    source_name,
    line_number,
    coalesce(nullif(run_id, ''), run_in_path) as reported_run_id,
    step,
    coalesce(nullif(role, ''), 'unknown') as role,
    model,
    case when cost_usd > 0 and cost_usd < cast('Infinity' as double) then cost_usd end as cost_usd
from {{ source('teacher', 'teacher_spend') }}
