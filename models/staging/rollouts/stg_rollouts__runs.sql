-- Grain: one row per line of a metadata file.
select
    source_name,
    line_number,
    run_name,
    nullif(model_name, '') as model_name,
    nullif(git_commit, '') as git_commit,
    started_at
from {{ source('rollouts', 'rollout_runs') }}
