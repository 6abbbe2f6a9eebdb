-- Grain: one row per checkpoint folder with a trainer's word on its progress; of two files, transformers' own.
with ranked as (
    select
        source_name,
        folder_idx,
        global_step,
        best_metric,
        best_step,
        validation_reward,
        row_number() over as_named as file_rank
    from {{ source('checkpoints', 'checkpoint_states') }}
    where is_readable
    window as_named as (partition by source_name, folder_idx order by file_name)
)

select
    source_name,
    folder_idx,
    global_step,
    best_metric,
    best_step,
    validation_reward
from ranked
where file_rank = 1
