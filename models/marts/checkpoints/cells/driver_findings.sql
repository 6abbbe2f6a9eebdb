-- Grain: one row per (kind, subject).
-- Decides what of the driving agents' logs a person should look at.
with spending as (select * from {{ ref('driver_spending') }}),

sessions as (
    select distinct
        cell,
        session_id
    from spending
)

select
    'session_clock_runs_backwards' as kind,
    source_name as subject,
    'warn' as severity,
    cast(count(*) as string) || ' reports are older than the line before, first in line '
    || cast(min(line_number) as string) as detail,
    {{ findings_page('session_clock_runs_backwards') }} as remedy
from spending
where is_clock_backwards
group by source_name
union all
select
    'session_total_restarts' as kind,
    source_name as subject,
    'info' as severity,
    cast(count(*) as string) || ' times the running total does not go on from where it stood and was counted anew, '
    || 'first in line ' || cast(min(line_number) as string) as detail,
    {{ findings_page('session_total_restarts') }} as remedy
from spending
where is_reset
group by source_name
union all
select
    'session_parent_missing' as kind,
    spending.cell || ' ' || spending.parent_session_id as subject,
    'warn' as severity,
    cast(count(distinct spending.source_name) as string) || ' sessions were forked from it (first: '
    || min(spending.source_name) || '), but its log is not here: what it spent itself is not counted' as detail,
    {{ findings_page('session_parent_missing') }} as remedy
from spending
left join sessions on spending.cell = sessions.cell and spending.parent_session_id = sessions.session_id
where spending.parent_session_id is not null and sessions.session_id is null
group by spending.cell, spending.parent_session_id
union all
select
    'session_start_unknown' as kind,
    source_name as subject,
    'warn' as severity,
    'its first total (' || cast(max(reported_tokens) as string) || ' tokens) may hold what the session before spent, '
    || 'and no last_token_usage says how much: it is not counted' as detail,
    {{ findings_page('session_start_unknown') }} as remedy
from spending
where spent_tokens is null
group by source_name
union all
select
    'driver_hours_unknown' as kind,
    cell as subject,
    'warn' as severity,
    cast(count(*) as string) || ' reports (' || cast(sum(spent_tokens) as string) || ' tokens; first: '
    || min(source_name) || ') do not say when: what the cell had spent by an hour is unknown' as detail,
    {{ findings_page('driver_hours_unknown') }} as remedy
from spending
where spent_at is null and spent_tokens > 0
group by cell
