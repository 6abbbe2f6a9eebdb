-- Grain: one row per (arm, segment_number, position) that any row of the segment has.
-- Decides what of a segment was redone: what lies at or after the start of a later segment of its lineage; and, in a
-- track beside the main one, what its run logged there before the main track started over.
with segments as (select * from {{ ref('segments') }}),

main_lineages as (
    select * from segments
    where is_main_track and is_chosen
),

side_arms as (
    select distinct arm from segments
    where not is_main_track
),

successors as (
    select
        arm,
        segment_number,
        lead(segment_number) over along_lineage as successor_number,
        lead(first_position) over along_lineage as successor_position
    from segments
    where is_chosen
    window along_lineage as (partition by arm, track_number order by segment_number)
),

overtaken_runs as (
    select distinct
        earlier.arm,
        earlier.run_id,
        later.segment_number as later_number,
        later.first_position,
        later.started_at
    from main_lineages as earlier
    inner join main_lineages as later
        on
            earlier.arm = later.arm
            and earlier.segment_number < later.segment_number
            and earlier.last_position >= later.first_position
    inner join side_arms on earlier.arm = side_arms.arm
),

spots as (
    select
        segments.arm,
        segments.segment_number,
        placed_rows.position,
        segments.track_number,
        segments.is_main_track,
        segments.run_id,
        segments.log_id,
        segments.is_chosen,
        bool_or(placed_rows.row_class = 'core') as is_logged_step,
        count(*) as row_count,
        min(placed_rows.happened_at) as first_at,
        max(placed_rows.happened_at) as last_at
    from {{ ref('placed_rows') }} as placed_rows
    inner join segments on placed_rows.log_id = segments.log_id and placed_rows.segment_idx = segments.segment_idx
    group by
        segments.arm, segments.segment_number, placed_rows.position, segments.track_number, segments.is_main_track,
        segments.run_id, segments.log_id, segments.is_chosen
),

overtaken as (
    select
        spots.arm,
        spots.segment_number,
        spots.position,
        min(overtaken_runs.later_number) as superseding_number
    from spots
    inner join overtaken_runs
        on
            spots.arm = overtaken_runs.arm
            and spots.run_id = overtaken_runs.run_id
            and spots.position >= overtaken_runs.first_position
            and coalesce(spots.first_at < overtaken_runs.started_at, spots.segment_number < overtaken_runs.later_number)
    where spots.is_chosen and not spots.is_main_track
    group by spots.arm, spots.segment_number, spots.position
),

superseded as (
    select
        spots.*,
        least(
            case when successors.successor_position <= spots.position then successors.successor_number end,
            overtaken.superseding_number
        ) as superseding_number
    from spots
    left join successors on spots.arm = successors.arm and spots.segment_number = successors.segment_number
    left join overtaken
        on
            spots.arm = overtaken.arm
            and spots.segment_number = overtaken.segment_number
            and spots.position = overtaken.position
),

final as (
    select
        superseded.arm,
        superseded.segment_number,
        superseded.position,
        superseded.track_number,
        superseded.is_main_track,
        superseded.run_id,
        superseded.log_id,
        superseded.is_logged_step,
        superseded.row_count,
        superseded.last_at,
        case
            when not superseded.is_chosen then 'other_lineage'
            when superseded.superseding_number is not null then 'rolled_back'
        end as drop_reason,
        superseding.run_id as superseded_by_run_id
    from superseded
    left join segments as superseding
        on superseded.arm = superseding.arm and superseded.superseding_number = superseding.segment_number
)

select * from final
