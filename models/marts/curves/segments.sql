-- Grain: one row per (arm, segment_number).
-- Decides which lineage of each track is chosen, and which track is the arm's curve.
with recursive

related as (select * from {{ ref('segment_parents') }}),

arms as (select * from {{ source('declared', 'arms') }}),

{{ chosen_lineage(
    'logged_step_count', 'arms', 'related.run_id = declared.leaf_run_id', 'related.arm, related.track_number'
) }},

children as (
    select distinct
        arm,
        parent_segment_number
    from related
),

headline_segments as (
    select
        segment_metrics.arm,
        segment_metrics.segment_number
    from {{ ref('segment_metrics') }} as segment_metrics
    left join arms on segment_metrics.arm = arms.arm
    where segment_metrics.metric = coalesce(arms.headline_metric, '{{ var("headline_metric") }}')
),

main_tracks as (
    select
        related.arm,
        related.track_number,
        row_number() over (
            partition by related.arm
            order by
                case when count(headline_segments.segment_number) > 0 then 0 else 1 end asc,
                sum(case when chosen.segment_number is not null then related.logged_step_count end) desc,
                related.track_number asc
        ) as preference
    from related
    left join chosen on related.arm = chosen.arm and related.segment_number = chosen.segment_number
    left join headline_segments
        on related.arm = headline_segments.arm and related.segment_number = headline_segments.segment_number
    group by related.arm, related.track_number
),

final as (
    select
        related.arm,
        related.segment_number,
        related.track_number,
        main_tracks.preference = 1 as is_main_track,
        related.run_id,
        related.log_id,
        related.segment_idx,
        related.started_at,
        related.ended_at,
        related.first_position,
        related.last_position,
        related.row_count,
        related.logged_step_count,
        related.median_gap,
        related.track_median_gap,
        related.parent_segment_number,
        related.parent_segment_number is null as is_fresh_start,
        related.trainer_starts_over,
        related.is_at_beginning,
        lineages.root_segment_number,
        lineages.lineage_step_count,
        children.parent_segment_number is null as is_leaf,
        chosen.segment_number is not null as is_chosen
    from related
    inner join lineages on related.arm = lineages.arm and related.segment_number = lineages.segment_number
    inner join main_tracks on related.arm = main_tracks.arm and related.track_number = main_tracks.track_number
    left join children
        on related.arm = children.arm and related.segment_number = children.parent_segment_number
    left join chosen on related.arm = chosen.arm and related.segment_number = chosen.segment_number
)

select * from final
