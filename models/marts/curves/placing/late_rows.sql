-- Grain: one row per (log_id, row_idx) that states a position below the row before it and redoes nothing.
-- Decides which rows are late: an evaluation of step 10 that is logged between the training steps 12 and 13.
with step_back_rows as (select * from {{ ref('step_back_rows') }}),

step_back_metrics as (
    select
        step_back_rows.log_id,
        step_back_rows.block_number,
        history.metric,
        bool_or(step_back_rows.is_next) and bool_or(not step_back_rows.is_next) as is_redone
    from {{ ref('stg_history__values') }} as history
    inner join step_back_rows on history.log_id = step_back_rows.log_id and history.row_idx = step_back_rows.row_idx
    inner join {{ ref('connecting_metrics') }} as connecting_metrics
        on history.log_id = connecting_metrics.log_id and history.metric = connecting_metrics.metric
    group by step_back_rows.log_id, step_back_rows.block_number, history.metric
),

redone as (
    select distinct
        log_id,
        block_number
    from step_back_metrics
    where is_redone
),

final as (
    select
        step_back_rows.log_id,
        step_back_rows.row_idx
    from step_back_rows
    left join redone
        on step_back_rows.log_id = redone.log_id and step_back_rows.block_number = redone.block_number
    where redone.log_id is null and not step_back_rows.is_next
)

select * from final
