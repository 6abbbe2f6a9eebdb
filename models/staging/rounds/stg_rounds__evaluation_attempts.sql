-- Grain: one row per attempt in an evaluation file.
select
    source_name,
    entry_number,
    coalesce(nullif(run_id, ''), run_in_path) as reported_run_id,
    policy,
    coalesce(nullif(task, ''), 'unknown') as task,
    coalesce(chain, 'unknown') as chain,
    attempt,
    is_valid,
    {{ finite_or_null('score') }} as score,
    outcome
from {{ source('rounds', 'rounds_evaluation_attempts') }}
