-- Grain: one row per run read over the API.
-- What the server counted before and after reading.
select
    source_name as log_id,
    history_line_count,
    history_line_count_after,
    last_step_idx,
    received_row_count,
    duplicate_row_count,
    repeated_step_row_count
from {{ source('history', 'history_server_reads') }}
