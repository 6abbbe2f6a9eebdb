-- Grain: one row per (log_id, metric) that a log holds as a nested key.
-- Decides whether its name is ambiguous: shared with a plain key or with another path.
select
    log_id,
    metric,
    has_several_paths as is_ambiguous
from {{ ref('log_metrics') }}
where has_path
