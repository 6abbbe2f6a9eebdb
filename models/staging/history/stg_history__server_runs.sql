-- Grain: one row per (entity, project, run_id).
-- What the server lists.
select
    entity || '/' || project || '/' || run_id as source,
    state,
    history_line_count,
    is_deleted
from {{ source('history', 'history_server_runs') }}
