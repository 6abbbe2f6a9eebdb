-- Grain: one row per (log, history row, logged key); two nested keys that join to one name are two rows.
select
    source_name as log_id,
    row_idx,
    metric,
    key_path,
    value,
    value_text
from {{ source('history', 'history_values') }}
