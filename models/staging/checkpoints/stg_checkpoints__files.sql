-- Grain: one row per file of a checkpoint, with its last name.
select
    source_name,
    folder_idx,
    file_name,
    regexp_extract(file_name, '([^/]+)$', 1) as last_name,
    size_bytes,
    modified_at,
    problem
from {{ source('checkpoints', 'checkpoint_files') }}
