-- Protects: uninterrupted runs. However irregular its logging, a segment's steps are all steps.
-- Fails when: two logged steps of one segment are taken for one, or a logged step is collapsed onto its own segment.
-- Not a check of: seams between two segments (finding `seam_guard_band`).
with places as (
    select
        arm,
        track_number,
        segment_number,
        standing_position,
        count(*) as step_count
    from {{ ref('logged_steps') }}
    where standing_position is not null
    group by arm, track_number, segment_number, standing_position
)

select
    arm,
    track_number,
    segment_number,
    standing_position,
    step_count
from places
where step_count > 1
