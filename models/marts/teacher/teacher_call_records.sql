-- Grain: one row per call that a line holds (source_name, line_number, judge_idx).
-- The call as it was logged, in the order of the files; `teacher_call_rows` has its label.
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
from {{ ref('stg_teacher__call_records') }}
