-- Grain: one row per metric.
-- Every system metric that the runs' own logs hold, and how often.
select
    metric,
    count(distinct log_id) as log_count,
    count(*) as sample_count
from {{ ref('stg_history__system_values') }}
group by metric
