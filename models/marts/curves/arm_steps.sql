-- Grain: one row per (arm, training_step): the stitched curve's steps.
-- Decides where a hole makes ordinals unsafe to join.
with kept as (
    select * from {{ ref('logged_steps') }}
    where training_step is not null
),

survivors as (
    select
        arm,
        median(gap) as median_gap
    from {{ ref('logged_steps') }}
    group by arm
),

spaced as (
    select
        *,
        position - lag(position) over along_arm as step_gap
    from kept
    window along_arm as (partition by arm order by training_step)
),

final as (
    select
        spaced.arm,
        spaced.training_step,
        spaced.position,
        spaced.run_id,
        spaced.log_id,
        spaced.segment_number,
        spaced.logged_at,
        spaced.gap_ratio,
        spaced.row_count,
        max(case when spaced.step_gap > {{ var('step_hole_gaps') }} * survivors.median_gap then 1 else 0 end)
            over up_to_step
        = 1 as is_beyond_step_hole
    from spaced
    inner join survivors on spaced.arm = survivors.arm
    window up_to_step as (
        partition by spaced.arm order by spaced.training_step rows between unbounded preceding and current row
    )
)

select * from final
