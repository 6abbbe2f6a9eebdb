-- Grain: one row per history row of a log.
select
    source_name as log_id,
    row_idx,
    record_number,
    step as step_idx,
    logged_at
from {{ source('history', 'history_rows') }}
