-- Grain: one row per tensor of a safetensors file (source_name, folder_idx, file_name, tensor_name).
select
    source_name,
    folder_idx,
    file_name,
    tensor_name,
    dtype,
    shape,
    size_bytes,
    digest,
    is_sampled
from {{ source('checkpoints', 'checkpoint_tensors') }}
