-- Grain: one row per (arm, segment_number).
-- Decides the order of an arm's segments and which earlier segment each one resumed from.
with row_positions as (
    select * from {{ ref('row_positions') }}
    where drop_reason is null
),

stretches as (
    select
        arm,
        run_id,
        log_id,
        segment_idx,
        min_by(happened_at, case when happened_at is not null then row_idx end) as started_at,
        max_by(happened_at, case when happened_at is not null then row_idx end) as ended_at,
        min(row_idx) as first_row_idx,
        min(position) as first_position,
        max(position) as last_position,
        count(*) as row_count,
        count(distinct position) as logged_step_count
    from row_positions
    group by arm, run_id, log_id, segment_idx
),

numbered as (
    select
        *,
        cast(
            row_number() over (partition by arm order by started_at nulls last, run_id, log_id, first_row_idx) as bigint
        ) as segment_number
    from stretches
),

logged_steps as (
    select distinct
        arm,
        log_id,
        segment_idx,
        position
    from row_positions
),

logged_gaps as (
    select
        arm,
        position - lag(position) over along_segment as gap
    from logged_steps
    window along_segment as (partition by arm, log_id, segment_idx order by position)
),

median_gaps as (
    select
        arm,
        median(gap) as median_gap
    from logged_gaps
    group by arm
),

parents as (
    select
        child.arm,
        child.segment_number,
        max(earlier.segment_number) as parent_segment_number
    from numbered as child
    inner join median_gaps on child.arm = median_gaps.arm
    inner join numbered as earlier
        on
            child.arm = earlier.arm
            and child.segment_number > earlier.segment_number
            and child.first_position > earlier.first_position
            and earlier.last_position
            >= child.first_position - {{ var('resume_reach_gaps') }} * coalesce(median_gaps.median_gap, 0)
    group by child.arm, child.segment_number
),

final as (
    select
        numbered.*,
        parents.parent_segment_number
    from numbered
    left join parents on numbered.arm = parents.arm and numbered.segment_number = parents.segment_number
)

select * from final
