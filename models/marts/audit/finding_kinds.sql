-- Grain: one row per (kind, severity).
-- How often each kind of finding was made, with the first subject of it.
select
    kind,
    severity,
    count(*) as finding_count,
    min(subject) as first_subject
from {{ ref('findings') }}
group by kind, severity
