-- Grain: one row per log.
-- Empty texts become null; a log that lost its run record but kept rows is a run of its own. A table: it lies
-- in a file per log, and many marts read it.
{{ config(materialized='table') }}
select
    logs.source_name as log_id,
    coalesce(logs.run_id, case when logs.history_row_count > 0 then logs.source_name end) as run_id,
    logs.producer,
    logs.source_kind,
    sources.path as source,
    nullif(logs.run_name, '') as run_name,
    nullif(logs.project, '') as project,
    nullif(logs.run_group, '') as run_group,
    nullif(logs.arm_in_path, '') as arm_in_path,
    logs.launch_name,
    logs.started_at,
    logs.state,
    logs.has_exit_record,
    logs.exit_code,
    logs.history_row_count as row_count,
    logs.lost_tail_bytes
from {{ source('history', 'history_logs') }} as logs
inner join {{ source('landing', 'landed_sources') }} as sources
    on logs.source_name = sources.source_name
