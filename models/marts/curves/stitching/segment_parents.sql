-- Grain: one row per (arm, segment_number).
-- Decides which earlier segment of its track each one resumed from; a segment that begins at the beginning is a fresh
-- start whatever reaches it.
with stretches as (
    select
        stretches.*,
        tracks.track_number
    from {{ ref('stretches') }} as stretches
    inner join {{ ref('tracks') }} as tracks
        on stretches.arm = tracks.arm and stretches.segment_number = tracks.segment_number
),

median_gaps as (
    select
        stretches.arm,
        stretches.track_number,
        coalesce(median(logged_gaps.gap), 0) as track_median_gap
    from {{ ref('logged_gaps') }} as logged_gaps
    inner join stretches
        on logged_gaps.log_id = stretches.log_id and logged_gaps.segment_idx = stretches.segment_idx
    group by stretches.arm, stretches.track_number
),

started as (
    select
        stretches.*,
        median_gaps.track_median_gap,
        trainer_starts.is_low as begins_low,
        trainer_starts.first_step,
        min(trainer_starts.first_step) over earlier as lowest_earlier_step
    from stretches
    inner join median_gaps
        on stretches.arm = median_gaps.arm and stretches.track_number = median_gaps.track_number
    left join {{ ref('trainer_starts') }} as trainer_starts
        on stretches.log_id = trainer_starts.log_id and stretches.segment_idx = trainer_starts.segment_idx
    window earlier as (
        partition by stretches.arm, stretches.track_number
        order by stretches.segment_number
        rows between unbounded preceding and 1 preceding
    )
),

segments as (
    select
        *,
        coalesce(begins_low and coalesce(lowest_earlier_step >= first_step, true), false) as trainer_starts_over,
        first_position <= median_gap as is_at_beginning
    from started
),

parents as (
    select
        child.arm,
        child.segment_number,
        max(earlier.segment_number) as parent_segment_number
    from segments as child
    inner join segments as earlier
        on
            child.arm = earlier.arm
            and child.track_number = earlier.track_number
            and child.segment_number > earlier.segment_number
            and child.first_position > earlier.first_position
            and earlier.last_position
            >= child.first_position - {{ var('resume_reach_gaps') }} * child.track_median_gap
    where
        not child.trainer_starts_over
        -- A run of the same cadence that logged a whole step below is resumed after all.
        and (
            not child.is_at_beginning
            or (
                child.median_gap > 0
                and child.median_gap = earlier.median_gap
                and earlier.first_position <= child.first_position - child.median_gap
            )
        )
    group by child.arm, child.segment_number
),

final as (
    select
        segments.arm,
        segments.segment_number,
        segments.track_number,
        segments.run_id,
        segments.log_id,
        segments.segment_idx,
        segments.started_at,
        segments.ended_at,
        segments.first_position,
        segments.last_position,
        segments.row_count,
        segments.logged_step_count,
        segments.median_gap,
        segments.track_median_gap,
        segments.trainer_starts_over,
        segments.is_at_beginning,
        parents.parent_segment_number
    from segments
    left join parents on segments.arm = parents.arm and segments.segment_number = parents.segment_number
)

select * from final
