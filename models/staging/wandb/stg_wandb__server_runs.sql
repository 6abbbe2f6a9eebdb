-- Grain: one row per (entity, project, run_id).
-- What the server lists.
select
    entity || '/' || project || '/' || run_id as source,
    state,
    history_line_count,
    is_deleted
from {{ source('wandb', 'wandb_server_runs') }}
