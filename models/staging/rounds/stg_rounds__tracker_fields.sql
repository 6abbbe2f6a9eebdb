-- Grain: one row per scalar of an export's run.json.
select
    source_name,
    field,
    value
from {{ source('rounds', 'rounds_tracker_fields') }}
