-- Grain: one row per (run_id, file_row_idx): a line of a by-run file.
-- Decides the order of a run's rows. A source that another stands for comes first: when the file is read again, its
-- later rows supersede the earlier ones.
with started as (
    select
        run_rows.run_id,
        run_rows.log_id,
        run_rows.row_idx,
        run_rows.drop_reason,
        run_rows.position_source,
        run_rows.training_step,
        logs.started_at
    from {{ ref('run_rows') }} as run_rows
    left join {{ ref('logs') }} as logs on run_rows.log_id = logs.log_id
),

final as (
    select
        run_id,
        cast(row_number() over along_run - 1 as bigint) as file_row_idx,
        log_id,
        row_idx,
        drop_reason,
        position_source,
        training_step
    from started
    window along_run as (
        partition by run_id
        order by
            case when drop_reason = 'duplicate_source' then 0 else 1 end,
            started_at nulls first,
            log_id,
            row_idx
    )
)

select * from final
