-- Grain: one row per report of a Codex session that repeats history (source_name, line_number).
-- Decides which reports of a fork are its parent's: those that an ancestor's log holds too, never a sibling's; where
-- the parent's log is not here, those that were written in the moment of the fork.
with recursive
reports as (
    select * from {{ ref('stg_checkpoints__usage') }}
    where usage_format = 'codex'
),

logs as (
    select
        cell,
        source_name,
        session_id,
        parent_session_id,
        min(logged_at) as first_logged_at
    from reports
    group by cell, source_name, session_id, parent_session_id
),

sessions as (
    select distinct
        cell,
        session_id,
        parent_session_id
    from logs
    where session_id is not null
),

lineages as (
    select
        cell,
        session_id,
        parent_session_id as ancestor_session_id,
        1 as depth
    from sessions
    where parent_session_id <> session_id
    union all
    select
        lineages.cell,
        lineages.session_id,
        sessions.parent_session_id as ancestor_session_id,
        lineages.depth + 1 as depth
    from lineages
    inner join sessions on lineages.cell = sessions.cell and lineages.ancestor_session_id = sessions.session_id
    -- Sessions that name each other as parents would go on for ever.
    where sessions.parent_session_id is not null and lineages.depth < {{ var('deepest_session_lineage') }}
),

ancestors as (
    select
        logs.source_name,
        earlier.source_name as ancestor_name
    from logs
    inner join lineages on logs.cell = lineages.cell and logs.session_id = lineages.session_id
    inner join logs as earlier on lineages.cell = earlier.cell and lineages.ancestor_session_id = earlier.session_id
    where logs.session_id <> earlier.session_id
    union
    -- A session that went on in another log, or a copy of its log.
    select
        logs.source_name,
        earlier.source_name as ancestor_name
    from logs
    inner join logs as earlier on logs.cell = earlier.cell and logs.session_id = earlier.session_id
    where
        earlier.first_logged_at < logs.first_logged_at
        or (earlier.first_logged_at = logs.first_logged_at and earlier.source_name < logs.source_name)
),

final as (
    select
        reports.source_name,
        reports.line_number
    from reports
    inner join ancestors on reports.source_name = ancestors.source_name
    inner join reports as told
        on
            ancestors.ancestor_name = told.source_name
            and reports.reported_tokens = told.reported_tokens
            and reports.input_tokens is not distinct from told.input_tokens
            and reports.cached_input_tokens is not distinct from told.cached_input_tokens
            and reports.last_tokens is not distinct from told.last_tokens
    union
    select
        reports.source_name,
        reports.line_number
    from reports
    left join sessions as parents on reports.cell = parents.cell and reports.parent_session_id = parents.session_id
    where
        reports.parent_session_id is not null
        and parents.session_id is null
        and {{ hours_between('reports.session_started_at', 'reports.logged_at') }} * 3600
        <= {{ var('fork_replay_seconds') }}
)

select
    source_name,
    line_number
from final
