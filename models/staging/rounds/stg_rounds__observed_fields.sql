-- Grain: one row per (source, family, field, json_type).
select
    source_name,
    family,
    field,
    json_type,
    record_count
from {{ source('rounds', 'observed_fields') }}
