-- Grain: one row per shard.
select
    files.source_name,
    sources.path as source,
    files.run_name,
    files.shard_number,
    files.record_count,
    files.special_token_ids
from {{ source('rollouts', 'rollout_files') }} as files
inner join {{ source('landing', 'landed_sources') }} as sources
    on files.source_name = sources.source_name
