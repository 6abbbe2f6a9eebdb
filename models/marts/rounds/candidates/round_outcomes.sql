-- Grain: one row per (run_id, step, outcome).
-- Counts kept candidates of formal runs by the outcome of their execution.
select
    run_id,
    step,
    outcome,
    count(*) as candidate_count
from {{ ref('candidates') }}
where drop_reason is null and not is_diagnostic
group by run_id, step, outcome
