-- Grain: one row per (family, field, json_type).
-- Every key and type that was seen in each family of records.
select
    family,
    field,
    json_type,
    cast(sum(record_count) as bigint) as record_count
from {{ ref('stg_rounds__observed_fields') }}
group by family, field, json_type
