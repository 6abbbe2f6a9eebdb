-- Grain: one row per record or stretch of a source that could not be read.
select
    source_name,
    locator,
    reason
from {{ source('quarantine', 'quarantine') }}
