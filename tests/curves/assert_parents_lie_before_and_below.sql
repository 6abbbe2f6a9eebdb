-- Protects: lineages. A segment resumes from an earlier one of its track that starts below it.
-- Fails when: a parent has a higher number, another track, or does not start below; or a chosen segment's parent is not
-- chosen too; or a track has not exactly one chosen end.
-- Not a check of: which of several candidates is the parent.
with segments as (select * from {{ ref('segments') }}),

ends as (
    select
        arm,
        track_number,
        sum(case when is_chosen then 1 else 0 end) as chosen_count,
        sum(case when is_chosen and is_fresh_start then 1 else 0 end) as chosen_start_count
    from segments
    group by arm, track_number
)

select
    child.arm,
    child.track_number,
    child.segment_number,
    child.parent_segment_number
from segments as child
left join segments as parent on child.arm = parent.arm and child.parent_segment_number = parent.segment_number
where
    (child.parent_segment_number is null) <> child.is_fresh_start
    or (
        child.parent_segment_number is not null
        and not coalesce(
            parent.segment_number < child.segment_number
            and parent.track_number = child.track_number
            and parent.first_position < child.first_position
            and (parent.is_chosen or not child.is_chosen),
            false
        )
    )
union all
select
    arm,
    track_number,
    chosen_count,
    chosen_start_count
from ends
where chosen_start_count <> 1 or chosen_count = 0
