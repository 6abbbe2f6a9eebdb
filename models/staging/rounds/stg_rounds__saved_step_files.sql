-- Grain: one row per file of a saved step.
select
    source_name,
    run_in_path as reported_run_id,
    step,
    path,
    size_bytes,
    sha256,
    lora_rank,
    lora_alpha
from {{ source('rounds', 'rounds_saved_step_files') }}
