-- Grain: one row per call that a line holds, as it was landed.
select
    source_name,
    line_number,
    judge_idx,
    call_id,
    run_id,
    step,
    group_id,
    role,
    model,
    cost_usd,
    created_at,
    request_json,
    response_json,
    row_json,
    other_json
from {{ source('teacher', 'teacher_call_records') }}
