-- Grain: one row per (repo, repo_type): a Hub repo that holds a cell's record or data, not a checkpoint.
select distinct
    repo,
    repo_type,
    regexp_extract(repo, '^([^/]+)/', 1) as org,
    regexp_extract(repo, '([^/]+)-(record|data)$', 1) as cell,
    regexp_extract(repo, '-(record|data)$', 1) as companion_kind
from {{ ref('stg_checkpoints__companions') }}
