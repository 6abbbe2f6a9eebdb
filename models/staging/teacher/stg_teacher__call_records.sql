-- Grain: one row per call that a line holds, as it was landed.
select * from {{ source('teacher', 'teacher_call_records') }}
