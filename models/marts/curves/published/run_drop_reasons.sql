-- Grain: one row per (run_id, drop_reason, superseded_by_run_id).
-- How many rows of a run are not on a curve, why, and which run stands for them.
select
    arm,
    run_id,
    drop_reason,
    superseded_by_run_id,
    count(*) as row_count,
    min(position) as first_position,
    max(position) as last_position
from {{ ref('run_rows') }}
where drop_reason is not null
group by arm, run_id, drop_reason, superseded_by_run_id
