-- Grain: one row per (organisation read, repo, repo_type): a Hub repo that holds a cell's record or data.
select
    source_name,
    repo,
    repo_type
from {{ source('checkpoints', 'hub_companions') }}
