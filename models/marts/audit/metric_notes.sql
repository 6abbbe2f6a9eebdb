-- Grain: one row per declared note on metrics.
-- What a reader of a metric must know, as a person declared it.
select distinct
    metric_pattern,
    note,
    is_comparable
from {{ source('declared', 'metric_notes') }}
