-- Grain: one row per (log, system sample, metric).
select
    source_name as log_id,
    sample_idx,
    metric,
    value
from {{ source('history', 'history_system_values') }}
