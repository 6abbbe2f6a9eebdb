-- Grain: one row per (arm, segment_number, position): all rows of one segment that share one position.
-- Decides what became of each logged step: rolled back, of another lineage, collapsed at a seam, or kept.
with row_positions as (
    select * from {{ ref('row_positions') }}
    where drop_reason is null
),

segments as (select * from {{ ref('segments') }}),

successors as (
    select
        arm,
        segment_number,
        min(case when is_chosen then segment_number end) over later as successor_number
    from segments
    window later as (partition by arm order by segment_number rows between 1 following and unbounded following)
),

steps as (
    select
        segments.arm,
        segments.segment_number,
        row_positions.position,
        segments.run_id,
        segments.log_id,
        segments.segment_idx,
        segments.is_chosen,
        successors.successor_number,
        count(*) as row_count,
        max(row_positions.happened_at) as logged_at
    from row_positions
    inner join segments
        on row_positions.log_id = segments.log_id and row_positions.segment_idx = segments.segment_idx
    inner join successors
        on segments.arm = successors.arm and segments.segment_number = successors.segment_number
    group by
        segments.arm, segments.segment_number, row_positions.position, segments.run_id, segments.log_id,
        segments.segment_idx, segments.is_chosen, successors.successor_number
),

judged as (
    select
        steps.*,
        case
            when successor.first_position <= steps.position then 'rolled_back'
            when not steps.is_chosen then 'other_lineage'
        end as lineage_label,
        case when successor.first_position <= steps.position then successor.run_id end as rolled_back_by_run_id
    from steps
    left join segments as successor
        on steps.arm = successor.arm and steps.successor_number = successor.segment_number
),

spaced as (
    select
        arm,
        segment_number,
        position,
        run_id,
        position - lag(position) over along_arm as gap
    from judged
    where lineage_label is null
    window along_arm as (partition by arm order by position, segment_number)
),

median_gaps as (
    select
        arm,
        median(gap) as median_gap
    from spaced
    group by arm
),

compared as (
    select
        spaced.*,
        spaced.gap / nullif(median_gaps.median_gap, 0) as gap_ratio,
        coalesce(spaced.gap / nullif(median_gaps.median_gap, 0) < {{ var('seam_ratio') }}, false) as is_same_step
    from spaced
    inner join median_gaps on spaced.arm = median_gaps.arm
),

numbered as (
    select
        *,
        sum(case when is_same_step then 0 else 1 end) over up_to_step as training_step
    from compared
    window up_to_step as (
        partition by arm order by position, segment_number rows between unbounded preceding and current row
    )
),

ranked as (
    select
        *,
        row_number() over best_first as preference,
        first_value(run_id) over (
            partition by arm, training_step
            order by segment_number desc, position desc
            rows between unbounded preceding and current row
        ) as standing_run_id
    from numbered
    window best_first as (partition by arm, training_step order by segment_number desc, position desc)
),

final as (
    select
        judged.arm,
        judged.segment_number,
        judged.position,
        judged.run_id,
        judged.log_id,
        judged.segment_idx,
        judged.row_count,
        judged.logged_at,
        coalesce(judged.lineage_label, case when ranked.preference > 1 then 'seam_collapsed' end) as drop_reason,
        case
            when judged.lineage_label is not null then judged.rolled_back_by_run_id
            when ranked.preference > 1 then ranked.standing_run_id
        end as superseded_by_run_id,
        ranked.gap,
        ranked.gap_ratio,
        cast(case when ranked.preference = 1 then ranked.training_step end as bigint) as training_step
    from judged
    left join ranked
        on
            judged.arm = ranked.arm
            and judged.segment_number = ranked.segment_number
            and judged.position = ranked.position
)

select * from final
