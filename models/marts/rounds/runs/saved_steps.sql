-- Grain: one row per (run_id, step).
-- What each saved step holds, and which of adapter, its configuration and the task states it lacks.
with files as (
    select
        *,
        path like '%adapter_model.%' as is_adapter,
        path like '%adapter_config.json' as is_adapter_config,
        path like '%task_state%' as is_task_state
    from {{ ref('saved_step_files') }}
),

steps as (
    select
        run_id,
        step,
        is_diagnostic,
        count(*) as file_count,
        cast(sum(size_bytes) as bigint) as size_bytes,
        count(case when is_adapter then 1 end) > 0 as has_adapter,
        count(case when is_adapter_config then 1 end) > 0 as has_adapter_config,
        count(case when is_task_state then 1 end) > 0 as has_task_state,
        min(case when is_adapter then sha256 end) as adapter_sha256,
        max(lora_rank) as lora_rank,
        max(lora_alpha) as lora_alpha
    from files
    group by run_id, step, is_diagnostic
)

select
    run_id,
    step,
    has_adapter,
    adapter_sha256,
    lora_rank,
    lora_alpha,
    has_adapter_config,
    has_task_state,
    nullif(
        trim(
            case when has_adapter then '' else 'adapter ' end
            || case when has_adapter_config then '' else 'adapter_config ' end
            || case when has_task_state then '' else 'task_state' end
        ),
        ''
    ) as missing_parts,
    file_count,
    size_bytes,
    is_diagnostic
from steps
