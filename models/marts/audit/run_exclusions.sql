-- Grain: one row per declared stretch of history that is not used.
-- What was left out by declaration, and why.
select distinct
    run_id,
    arm,
    logged_from,
    logged_until,
    reason,
    source
from {{ source('declared', 'run_exclusions') }}
