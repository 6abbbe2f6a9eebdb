-- Grain: one row per upstream source that has landed.
select
    source_name,
    kind,
    path as source,
    landed_at
from {{ source('landing', 'landed_sources') }}
