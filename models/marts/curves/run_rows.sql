-- Grain: one row per (run_id, log_id, row_idx): every history row that was logged.
-- Gives each row the label of its logged step; a null drop_reason is kept.
with row_positions as (select * from {{ ref('row_positions') }}),

logged_steps as (select * from {{ ref('logged_steps') }}),

final as (
    select
        row_positions.run_id,
        row_positions.log_id,
        row_positions.row_idx,
        row_positions.arm,
        logged_steps.segment_number,
        row_positions.record_number,
        row_positions.step_idx,
        row_positions.logged_at,
        row_positions.position,
        coalesce(row_positions.drop_reason, logged_steps.drop_reason) as drop_reason,
        logged_steps.superseded_by_run_id,
        logged_steps.gap_ratio,
        logged_steps.training_step
    from row_positions
    left join logged_steps
        on
            row_positions.log_id = logged_steps.log_id
            and row_positions.segment_idx = logged_steps.segment_idx
            and row_positions.position = logged_steps.position
)

select * from final
