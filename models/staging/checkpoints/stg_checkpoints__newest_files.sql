-- Grain: one row per checkpoint folder that holds a file with a time: the newest of their times.
select
    source_name,
    folder_idx,
    max(modified_at) as newest_modified_at,
    count(*) as file_count
from {{ source('checkpoints', 'checkpoint_files') }}
where modified_at is not null
group by source_name, folder_idx
