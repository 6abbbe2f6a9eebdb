-- Grain: one row per (checkpoint folder, JSON metadata file).
select
    source_name,
    folder_idx,
    file_name,
    is_readable,
    model_name,
    model_type,
    eos_token_ids,
    text_eos_token_ids,
    eos_token,
    architecture,
    dtype,
    max_position_count,
    has_vision_config,
    has_chat_template,
    base_model_name,
    adapter_type
from {{ source('checkpoints', 'checkpoint_configs') }}
