-- Grain: one row per (kind, subject).
-- Decides what about hours and steps a person should look at.
with hours as (select * from {{ ref('checkpoint_hours') }}),

checkpoints as (select * from {{ ref('checkpoints') }}),

families as (select * from {{ ref('checkpoint_families') }}),

outside as (
    select
        checkpoint_key,
        min(
            evidence || ' says hour ' || cast(round(hour, 2) as string) || ', '
            || case drop_reason when 'before_start' then 'before the run began' else 'after the run ended' end
        ) as detail
    from hours
    where drop_reason in ('before_start', 'after_end')
    group by checkpoint_key
    union all
    select
        dates.checkpoint_key,
        'its family''s line puts it at hour ' || cast(round(dates.hour_on_family_line, 2) as string)
        || ', outside the run' as detail
    from {{ ref('checkpoint_dates') }} as dates
    left join hours
        on dates.checkpoint_key = hours.checkpoint_key and hours.drop_reason in ('before_start', 'after_end')
    where dates.hour_source = 'unrecoverable' and dates.hour_on_family_line is not null and hours.checkpoint_key is null
),

unknown_families as (
    select
        checkpoints.cell,
        checkpoints.family,
        max(families.anchor_count) as anchor_count,
        count(*) as untimed_count
    from checkpoints
    inner join families on checkpoints.cell = families.cell and checkpoints.family = families.family
    where checkpoints.hour is null and not families.has_cadence
    group by checkpoints.cell, checkpoints.family
)

select
    'hour_outside_run' as kind,
    checkpoints.model_id as subject,
    'warn' as severity,
    outside.detail,
    {{ findings_page('hour_outside_run') }} as remedy
from outside
inner join checkpoints on outside.checkpoint_key = checkpoints.checkpoint_key
union all
select
    'mtimes_flattened' as kind,
    cell as subject,
    'warn' as severity,
    cast(count(*) as string) || ' checkpoints share their newest file time within a minute, first at '
    || cast(min(newest_modified_at) as string) || ': copied, so their file times tell nothing' as detail,
    {{ findings_page('mtimes_flattened') }} as remedy
from {{ ref('checkpoint_file_times') }}
where is_flattened
group by cell
union all
select
    'family_without_cadence' as kind,
    cell || '/' || family as subject,
    'info' as severity,
    cast(untimed_count as string) || ' checkpoints have no hour; ' || cast(anchor_count as string)
    || ' exact hours do not make a rising line' as detail,
    {{ findings_page('family_without_cadence') }} as remedy
from unknown_families
union all
select
    'cadence_runs_backwards' as kind,
    cell || '/' || family as subject,
    'warn' as severity,
    'later steps were written at earlier hours (' || cast(round(hours_per_step, 6) as string) || ' hours per step)'
        as detail,
    {{ findings_page('cadence_runs_backwards') }} as remedy
from families
where hours_per_step <= 0
union all
select
    'step_not_a_number' as kind,
    model_id as subject,
    'warn' as severity,
    'step ' || step_name || ' is no whole number: it can''t be placed on its family''s line' as detail,
    {{ findings_page('step_not_a_number') }} as remedy
from checkpoints
where step_name is not null and step is null
union all
select
    'ambiguous_model_id' as kind,
    model_id as subject,
    'warn' as severity,
    'the id does not read back as cell ' || cell || ', family ' || family
    || coalesce(', step ' || step_name, ', no step') as detail,
    {{ findings_page('ambiguous_model_id') }} as remedy
from checkpoints
where
    source_kind = 'sweep'
    and checkpoint_key is distinct from {{ checkpoint_key('null', 'null', 'null', 'model_id') }}
