-- Grain: one row per (source read, repo, repo_type): a Hub repo, or a folder, that holds a cell's record or data.
select
    source_name,
    repo,
    repo_type,
    source_kind
from {{ source('checkpoints', 'hub_companions') }}
