-- Grain: one row per (checkpoint folder, JSON metadata file).
select
    source_name,
    folder_idx,
    file_name,
    is_readable,
    model_name,
    model_type,
    eos_token_ids,
    text_eos_token_ids
from {{ source('checkpoints', 'checkpoint_configs') }}
