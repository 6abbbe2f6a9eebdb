-- Grain: one row per line of a scheduler log.
select
    source_name,
    line_number,
    coalesce(nullif(run_id, ''), run_in_path) as reported_run_id,
    occurred_at,
    capacity_before,
    capacity_after,
    active_jobs,
    waiting,
    mem_frac_max,
    load1,
    reason,
    other_json
from {{ source('rounds', 'rounds_scheduler_events') }}
