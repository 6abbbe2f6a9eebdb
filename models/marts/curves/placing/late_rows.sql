-- Grain: one row per (log_id, row_idx) that states a position below the row before it and redoes nothing.
-- Decides which rows are late: an evaluation of step 10 that is logged between the training steps 12 and 13.
with compared as (
    select
        log_id,
        row_idx,
        position,
        lag(position) over along_log as previous_position
    from {{ ref('logged_rows') }}
    where position is not null
    window along_log as (partition by log_id order by row_idx)
),

falling_logs as (
    select distinct log_id
    from compared
    where position < previous_position
),

numbered as (
    select
        compared.*,
        sum(case when compared.position is distinct from compared.previous_position then 1 else 0 end)
            over up_to_row as block_number
    from compared
    inner join falling_logs on compared.log_id = falling_logs.log_id
    window up_to_row as (
        partition by compared.log_id order by compared.row_idx rows between unbounded preceding and current row
    )
),

blocks as (
    select
        log_id,
        block_number,
        position,
        min(row_idx) as first_row_idx
    from numbered
    group by log_id, block_number, position
),

neighboured as (
    select
        *,
        lag(position) over along_log as previous_position,
        lead(position) over along_log as next_position,
        lead(first_row_idx) over along_log as next_row_idx
    from blocks
    window along_log as (partition by log_id order by block_number)
),

steps_back as (
    select * from neighboured
    where previous_position > position and next_position >= previous_position
),

step_back_rows as (
    select
        steps_back.log_id,
        steps_back.block_number,
        numbered.row_idx,
        numbered.row_idx = steps_back.next_row_idx as is_next
    from steps_back
    inner join numbered
        on
            steps_back.log_id = numbered.log_id
            and (steps_back.block_number = numbered.block_number or steps_back.next_row_idx = numbered.row_idx)
),

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
