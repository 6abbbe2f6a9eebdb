-- Grain: one row per record that could not be read.
-- Every reader's quarantine in one place, with the file and the line or byte.
select
    sources.source,
    quarantine.locator,
    quarantine.reason,
    sources.kind,
    sources.landed_at
from {{ ref('stg_landing__quarantine') }} as quarantine
inner join {{ ref('stg_landing__sources') }} as sources
    on quarantine.source_name = sources.source_name
