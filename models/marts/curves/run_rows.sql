-- Grain: one row per (run_id, log_id, row_idx): every history row that was logged.
-- Gives each row its label and its place on the curve; a null drop_reason is kept.
with usable_rows as (select * from {{ ref('usable_rows') }}),

placed_rows as (
    select
        placed_rows.*,
        segments.segment_number,
        segments.track_number
    from {{ ref('placed_rows') }} as placed_rows
    inner join {{ ref('segments') }} as segments
        on placed_rows.log_id = segments.log_id and placed_rows.segment_idx = segments.segment_idx
),

labelled as (
    select
        placed_rows.*,
        coalesce(spots.drop_reason, logged_steps.drop_reason) as drop_reason,
        coalesce(spots.superseded_by_run_id, logged_steps.superseded_by_run_id) as superseded_by_run_id,
        logged_steps.gap_ratio
    from placed_rows
    inner join {{ ref('spots') }} as spots
        on
            placed_rows.arm = spots.arm
            and placed_rows.segment_number = spots.segment_number
            and placed_rows.position = spots.position
    left join {{ ref('logged_steps') }} as logged_steps
        on
            placed_rows.arm = logged_steps.arm
            and placed_rows.segment_number = logged_steps.segment_number
            and placed_rows.position = logged_steps.position
            and placed_rows.row_class = 'core'
),

final as (
    select
        usable_rows.run_id,
        usable_rows.log_id,
        usable_rows.row_idx,
        usable_rows.arm,
        labelled.segment_number,
        labelled.track_number,
        usable_rows.record_number,
        usable_rows.step_idx,
        usable_rows.logged_at,
        usable_rows.happened_at,
        labelled.position,
        labelled.position_source,
        coalesce(
            usable_rows.drop_reason, labelled.drop_reason, case when labelled.position is null then 'unpositioned' end
        ) as drop_reason,
        labelled.superseded_by_run_id,
        labelled.gap_ratio,
        curve_places.training_step
    from usable_rows
    left join labelled on usable_rows.log_id = labelled.log_id and usable_rows.row_idx = labelled.row_idx
    left join {{ ref('curve_places') }} as curve_places
        on
            labelled.arm = curve_places.arm
            and labelled.track_number = curve_places.track_number
            and labelled.position = curve_places.position
            and labelled.drop_reason is null
)

select * from final
