-- Grain: one row per (run_id, file_row_idx): a line of a by-run file.
-- Decides the order of a run's rows. A source that another stands for comes first: when the file is read again, its later
-- rows supersede the earlier ones.
with run_rows as (select * from {{ ref('run_rows') }}),

logs as (select * from {{ ref('logs') }}),

final as (
    select
        run_rows.run_id,
        cast(row_number() over along_run - 1 as bigint) as file_row_idx,
        run_rows.log_id,
        run_rows.row_idx,
        run_rows.drop_reason,
        run_rows.training_step
    from run_rows
    left join logs on run_rows.log_id = logs.log_id
    window along_run as (
        partition by run_rows.run_id
        order by
            case when run_rows.drop_reason = 'duplicate_source' then 0 else 1 end,
            logs.started_at nulls first,
            run_rows.log_id,
            run_rows.row_idx
    )
)

select * from final
