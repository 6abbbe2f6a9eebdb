-- Grain: one row per (arm, segment_number, position) that a row of the segment states.
-- Decides what became of each logged step: rolled back, of another lineage, collapsed at a seam, or kept. A seam lies
-- between two segments: inside one nothing is collapsed, however irregular its logging.
with steps as (
    select * from {{ ref('spots') }}
    where is_logged_step
),

spaced as (
    select
        arm,
        track_number,
        segment_number,
        position,
        run_id,
        position - lag(position) over along_track as gap,
        segment_number <> lag(segment_number) over along_track as is_seam
    from steps
    where drop_reason is null
    window along_track as (partition by arm, track_number order by position, segment_number)
),

median_gaps as (
    select
        arm,
        track_number,
        median(gap) as median_gap
    from spaced
    group by arm, track_number
),

compared as (
    select
        spaced.*,
        median_gaps.median_gap,
        spaced.gap / nullif(median_gaps.median_gap, 0) as gap_ratio,
        coalesce(
            spaced.is_seam
            and (spaced.gap = 0 or spaced.gap / nullif(median_gaps.median_gap, 0) < {{ var('seam_ratio') }}),
            false
        ) as is_same_step
    from spaced
    inner join median_gaps on spaced.arm = median_gaps.arm and spaced.track_number = median_gaps.track_number
),

numbered as (
    select
        *,
        sum(case when is_same_step then 0 else 1 end) over up_to_step as step_number
    from compared
    window up_to_step as (
        partition by arm, track_number
        order by position, segment_number
        rows between unbounded preceding and current row
    )
),

ranked as (
    select
        *,
        row_number() over best_first as preference,
        first_value(run_id) over best_to_step as standing_run_id,
        first_value(position) over best_to_step as standing_position
    from numbered
    window
        best_first as (partition by arm, track_number, step_number order by segment_number desc, position desc),
        best_to_step as (
            partition by arm, track_number, step_number
            order by segment_number desc, position desc
            rows between unbounded preceding and current row
        )
),

final as (
    select
        steps.arm,
        steps.segment_number,
        steps.position,
        steps.track_number,
        steps.is_main_track,
        steps.run_id,
        steps.log_id,
        steps.row_count,
        steps.last_at as logged_at,
        coalesce(steps.drop_reason, case when ranked.preference > 1 then 'seam_collapsed' end) as drop_reason,
        case
            when steps.drop_reason is not null then steps.superseded_by_run_id
            when ranked.preference > 1 then ranked.standing_run_id
        end as superseded_by_run_id,
        ranked.gap,
        ranked.gap_ratio,
        ranked.median_gap,
        ranked.is_seam,
        ranked.is_same_step,
        ranked.standing_position
    from steps
    left join ranked
        on
            steps.arm = ranked.arm
            and steps.segment_number = ranked.segment_number
            and steps.position = ranked.position
)

select * from final
