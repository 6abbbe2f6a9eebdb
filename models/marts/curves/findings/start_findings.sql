-- Grain: one row per (kind, subject).
-- Decides which segments begin where nothing was, and which run beside others.
with segments as (select * from {{ ref('segments') }}),

main_segments as (
    select
        segments.*,
        arm_keys.position_key,
        min(segments.first_position) over (partition by segments.arm) as lowest_position
    from segments
    inner join {{ ref('arm_keys') }} as arm_keys on segments.arm = arm_keys.arm
    where segments.is_main_track
),

-- The lowest start is no orphan, so the lowest of all is the lowest of the others
orphans as (
    select * from main_segments
    where
        is_fresh_start
        and not is_at_beginning
        and not trainer_starts_over
        and first_position > lowest_position + {{ var('resume_reach_gaps') }} * track_median_gap
),

reaching as (
    select distinct
        orphans.arm,
        orphans.segment_number,
        case
            when others.arm = orphans.arm then 'run ' || others.run_id || ' of this arm' else 'arm ' || others.arm
        end as reaching_name,
        case when others.arm = orphans.arm then 0 else 1 end as distance
    from orphans
    inner join main_segments as others
        on
            orphans.position_key = others.position_key
            and orphans.first_position <= others.last_position
            and (orphans.arm <> others.arm or orphans.segment_number <> others.segment_number)
),

reaching_ranks as (
    select
        *,
        row_number() over (partition by arm, segment_number order by distance, reaching_name) as ordinal,
        count(*) over (partition by arm, segment_number) as reaching_count
    from reaching
),

reaching_lists as (
    select
        arm,
        segment_number,
        {{ joined_text('reaching_name', ', ', 'ordinal') }}
        || case when max(reaching_count) > 5 then ' and ' || (max(reaching_count) - 5) || ' more' else '' end as names
    from reaching_ranks
    where ordinal <= 5
    group by arm, segment_number
),

first_orphans as (
    select
        *,
        row_number() over (partition by run_id order by segment_number) as ordinal
    from orphans
),

starts as (
    select
        arm_steps.arm,
        min(arm_steps.position) as first_position
    from {{ ref('arm_steps') }} as arm_steps
    group by arm_steps.arm
),

late_starts as (
    select
        starts.arm,
        starts.first_position,
        max(roots.track_median_gap) as median_gap
    from starts
    inner join main_segments as roots on starts.arm = roots.arm and roots.is_chosen and roots.is_fresh_start
    left join orphans on roots.arm = orphans.arm and roots.segment_number = orphans.segment_number
    where orphans.arm is null and not roots.is_at_beginning
    group by starts.arm, starts.first_position
),

final as (
    select
        'orphan_start' as kind,
        first_orphans.run_id as subject,
        'warn' as severity,
        'it starts at ' || first_orphans.position_key || ' ' || first_orphans.first_position || ' of arm '
        || first_orphans.arm || ', and nothing before it led there: a fork, a lost head, or a clock that is behind; '
        || coalesce('what reached that position: ' || reaching_lists.names, 'nothing else reached that position')
            as detail,
        {{ declared_line('arm_assignments', {
            'run_id': 'first_orphans.run_id', 'arm': "first_orphans.arm || ' [' || first_orphans.run_id || ']'"
        }) }} as remedy
    from first_orphans
    left join reaching_lists
        on first_orphans.arm = reaching_lists.arm and first_orphans.segment_number = reaching_lists.segment_number
    where first_orphans.ordinal = 1
    union all
    select
        'late_start',
        arm,
        'warn',
        'its curve begins at ' || first_position || ', where it logs every ' || median_gap
        || ': its beginning is missing',
        {{ findings_page('late_start') }}
    from late_starts
    where median_gap > 0 and first_position > {{ var('step_hole_gaps') }} * median_gap
)

select * from final
