-- Grain: one row per (arm, run_id) of a main track with several fresh starts that were each trained to their end.
-- Decides which starts are complete: a segment without children that grew from it ended properly and reached within
-- `complete_fraction` of the furthest of the track.
with segments as (
    select * from {{ ref('segments') }}
    where is_main_track
),

last_logs as (
    select
        logs.run_id,
        max_by(coalesce(stated.has_exit_record, false) or coalesce(stated.state = 'finished', false), logs.log_number)
            as has_ended
    from {{ ref('logs') }} as logs
    inner join {{ ref('stg_history__logs') }} as stated on logs.log_id = stated.log_id
    where not logs.is_duplicate_source
    group by logs.run_id
),

reaches as (
    select
        arm,
        max(last_position) as last_position
    from segments
    group by arm
),

complete_roots as (
    select distinct
        segments.arm,
        segments.root_segment_number
    from segments
    inner join reaches on segments.arm = reaches.arm
    inner join last_logs on segments.run_id = last_logs.run_id
    where
        segments.is_leaf
        and last_logs.has_ended
        and segments.last_position >= {{ var('complete_fraction') }} * reaches.last_position
),

repeated as (
    select arm
    from complete_roots
    group by arm
    having count(*) > 1
),

final as (
    select
        segments.arm,
        segments.run_id,
        min(segments.root_segment_number) as root_segment_number,
        max(segments.root_segment_number) as last_root_segment_number,
        min_by(roots.run_id, segments.root_segment_number) as root_run_id,
        bool_or(segments.is_chosen) as is_on_curve
    from segments
    inner join complete_roots
        on segments.arm = complete_roots.arm and segments.root_segment_number = complete_roots.root_segment_number
    inner join segments as roots
        on segments.arm = roots.arm and segments.root_segment_number = roots.segment_number
    where segments.arm in (select repeated.arm from repeated)
    group by segments.arm, segments.run_id
)

select * from final
