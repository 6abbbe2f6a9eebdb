-- Grain: one row per (log, metric pattern).
select
    source_name as log_id,
    metric_pattern,
    step_metric
from {{ source('history', 'history_axes') }}
