-- Grain: one row per line of a file of candidates, as it was landed.
select
    source_name,
    line_number,
    response_text,
    line_json
from {{ source('rounds', 'rounds_candidates') }}
