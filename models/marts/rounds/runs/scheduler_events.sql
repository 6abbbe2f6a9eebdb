-- Grain: one row per line of a scheduler log (source_name, line_number).
-- Changes of execution capacity with the inputs they were decided on, in order of time within a run.
select
    identities.run_id,
    cast(
        row_number() over (
            partition by identities.run_id
            order by events.occurred_at nulls last, events.source_name, events.line_number
        ) as bigint
    ) as event_number,
    events.occurred_at,
    events.capacity_before,
    events.capacity_after,
    events.active_jobs,
    events.waiting,
    events.mem_frac_max,
    events.load1,
    events.reason,
    events.other_json,
    identities.is_diagnostic,
    events.source_name,
    events.line_number
from {{ ref('stg_rounds__scheduler_events') }} as events
inner join {{ ref('run_identities') }} as identities
    on events.reported_run_id = identities.reported_run_id
