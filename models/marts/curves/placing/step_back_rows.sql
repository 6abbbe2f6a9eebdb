-- Grain: one row per (log_id, block_number, row_idx) of rows that state one position below the rows before them, and of
-- the row after them (is_next), where the log then goes on from where it was.
-- A table of its own: in most logs it is empty, and then no value is read to tell which of these rows are late.
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
        cast(
            sum(case when compared.position is distinct from compared.previous_position then 1 else 0 end)
                over up_to_row
            as bigint
        ) as block_number
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

final as (
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
)

select * from final
