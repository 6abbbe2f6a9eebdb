-- Grain: one row per (run_id, step, task).
-- Counts kept candidates of formal runs, and the valid ones among them.
select
    run_id,
    step,
    task,
    count(*) as candidate_count,
    count(case when is_valid then 1 end) as valid_count,
    count(*) - count(is_valid) as unknown_validity_count,
    count(case when is_valid then 1 end) / cast(count(*) as double) as valid_fraction
from {{ ref('candidates') }}
where drop_reason is null and not is_diagnostic
group by run_id, step, task
