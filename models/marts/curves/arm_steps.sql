-- Grain: one row per (arm, training_step): the stitched curve's steps.
-- Decides which row stands for a step, and where a hole makes ordinals unsafe to join.
with kept_rows as (
    select * from {{ ref('run_rows') }}
    where drop_reason is null
),

main_places as (
    select * from {{ ref('curve_places') }}
    where is_main_track
),

standing_steps as (
    select * from {{ ref('logged_steps') }}
    where is_main_track and drop_reason is null
),

counted as (
    select
        arm,
        training_step,
        count(*) as row_count,
        max(happened_at) as logged_at
    from kept_rows
    group by arm, training_step
),

extra_rows as (
    select
        main_places.arm,
        main_places.training_step,
        kept_rows.run_id,
        kept_rows.log_id,
        kept_rows.segment_number,
        row_number() over (
            partition by main_places.arm, main_places.training_step
            order by kept_rows.segment_number desc, kept_rows.row_idx desc
        ) as preference
    from main_places
    inner join kept_rows
        on
            main_places.arm = kept_rows.arm
            and main_places.track_number = kept_rows.track_number
            and main_places.position = kept_rows.position
    where main_places.is_extra
),

medians as (
    select
        arm,
        max(median_gap) as median_gap
    from standing_steps
    group by arm
),

steps as (
    select
        main_places.arm,
        main_places.training_step,
        main_places.standing_position as position,
        coalesce(standing_steps.run_id, extra_rows.run_id) as run_id,
        coalesce(standing_steps.log_id, extra_rows.log_id) as log_id,
        coalesce(standing_steps.segment_number, extra_rows.segment_number) as segment_number,
        standing_steps.gap_ratio,
        main_places.is_extra,
        main_places.standing_position - lag(main_places.standing_position) over along_arm as step_gap
    from main_places
    left join standing_steps
        on
            main_places.arm = standing_steps.arm
            and main_places.standing_position = standing_steps.position
            and not main_places.is_extra
    left join extra_rows
        on
            main_places.arm = extra_rows.arm
            and main_places.training_step = extra_rows.training_step
            and extra_rows.preference = 1
    where main_places.position = main_places.standing_position
    window along_arm as (partition by main_places.arm order by main_places.training_step)
),

final as (
    select
        steps.arm,
        steps.training_step,
        steps.position,
        steps.run_id,
        steps.log_id,
        steps.segment_number,
        counted.logged_at,
        steps.gap_ratio,
        counted.row_count,
        steps.is_extra,
        coalesce(
            max(case when steps.step_gap > {{ var('step_hole_gaps') }} * medians.median_gap then 1 else 0 end)
                over up_to_step
            = 1,
            false
        ) as is_beyond_step_hole
    from steps
    inner join counted on steps.arm = counted.arm and steps.training_step = counted.training_step
    inner join medians on steps.arm = medians.arm
    window up_to_step as (
        partition by steps.arm order by steps.training_step rows between unbounded preceding and current row
    )
)

select * from final
