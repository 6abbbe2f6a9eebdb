-- Grain: one row per folder of a W&B export.
select
    source_name,
    coalesce(run_id, export_name) as reported_run_id,
    system_row_count
from {{ source('rounds', 'rounds_tracker_exports') }}
