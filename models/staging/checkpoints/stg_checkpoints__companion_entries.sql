-- Grain: one row per file or folder at the top of a companion.
select
    source_name,
    repo,
    repo_type,
    entry,
    file_count,
    size_bytes
from {{ source('checkpoints', 'companion_entries') }}
