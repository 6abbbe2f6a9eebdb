-- Grain: one row per (arm, track_number, position) at which something was kept.
-- Decides the training step of each position: the steps of the main track are counted by position, extra rows between
-- them are steps of their own, and other tracks take the main track's step at or before their position.
with logged_steps as (
    select distinct
        arm,
        track_number,
        is_main_track,
        position,
        standing_position
    from {{ ref('logged_steps') }}
    where standing_position is not null
),

extra_positions as (
    select distinct
        spots.arm,
        spots.track_number,
        spots.is_main_track,
        spots.position
    from {{ ref('spots') }} as spots
    left join logged_steps
        on
            spots.arm = logged_steps.arm
            and spots.track_number = logged_steps.track_number
            and spots.position = logged_steps.position
    where spots.drop_reason is null and logged_steps.position is null
),

places as (
    select
        arm,
        track_number,
        is_main_track,
        position,
        standing_position,
        false as is_extra
    from logged_steps
    union all
    select
        arm,
        track_number,
        is_main_track,
        position,
        position as standing_position,
        true as is_extra
    from extra_positions
),

main_steps as (
    select
        arm,
        standing_position,
        row_number() over (partition by arm order by standing_position) as training_step
    from (
        select distinct
            places.arm,
            places.standing_position
        from places
        where places.is_main_track
    ) as positions
),

placed as (
    select
        places.arm,
        places.track_number,
        places.is_main_track,
        places.position,
        places.standing_position,
        places.is_extra,
        main_steps.training_step,
        max(main_steps.training_step) over up_to_position as training_step_before
    from places
    left join main_steps
        on
            places.arm = main_steps.arm
            and places.is_main_track
            and places.standing_position = main_steps.standing_position
    window up_to_position as (
        partition by places.arm
        order by case when places.is_main_track then places.standing_position else places.position end
        range between unbounded preceding and current row
    )
),

final as (
    select
        arm,
        track_number,
        is_main_track,
        position,
        standing_position,
        is_extra,
        cast(coalesce(training_step, training_step_before, 1) as bigint) as training_step
    from placed
)

select * from final
