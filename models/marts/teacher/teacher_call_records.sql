-- Grain: one row per call that a line holds (source_name, line_number, judge_idx).
-- The call as it was logged, in the order of the files; `teacher_call_rows` has its fields and its label.
select
    source_name,
    line_number,
    judge_idx,
    line_json
from {{ ref('stg_teacher__call_records') }}
