-- Grain: one row per line of a file of candidates (source_name, line_number).
-- The candidate as it was written, in the order of the files; `candidates` has its fields and its label.
select
    source_name,
    line_number,
    response_text,
    line_json
from {{ ref('stg_rounds__candidate_records') }}
