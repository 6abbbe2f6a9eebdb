-- Grain: one row per call that a line holds, as it was landed.
select
    source_name,
    line_number,
    judge_idx,
    line_json
from {{ source('teacher', 'teacher_call_records') }}
