-- Grain: one row per record that could not be read.
-- Every reader's quarantine in one place, with the file and the line or byte.
select
    sources.path as source,
    quarantine.locator,
    quarantine.reason,
    sources.kind,
    sources.landed_at
from {{ source('quarantine', 'quarantine') }} as quarantine
inner join {{ source('landing', 'landed_sources') }} as sources
    on quarantine.source_name = sources.source_name
