-- Grain: one row per log_id read over the API.
-- Decides whether all history that the server counts has landed; a run may go on while it is read.
with logs as (
    select * from {{ ref('logs') }}
    where source_kind = 'api'
),

api_reads as (select * from {{ ref('stg_history__server_reads') }}),

server_runs as (select * from {{ ref('stg_history__server_runs') }}),

last_steps as (
    select
        log_id,
        max(step_idx) as last_landed_step_idx
    from {{ ref('stg_history__rows') }}
    where log_id in (select api_reads.log_id from api_reads)
    group by log_id
),

final as (
    select
        logs.log_id,
        logs.run_id,
        logs.source,
        logs.row_count,
        api_reads.history_line_count,
        greatest(api_reads.history_line_count - logs.row_count, 0) as missing_row_count,
        greatest(
            logs.row_count - greatest(api_reads.history_line_count, api_reads.history_line_count_after), 0
        ) as surplus_row_count,
        api_reads.last_step_idx,
        last_steps.last_landed_step_idx,
        api_reads.duplicate_row_count,
        api_reads.repeated_step_row_count,
        logs.row_count >= api_reads.history_line_count
        and coalesce(last_steps.last_landed_step_idx >= api_reads.last_step_idx, api_reads.last_step_idx is null)
            as is_complete,
        server_runs.state as server_state,
        coalesce(server_runs.is_deleted, false) as is_deleted
    from logs
    inner join api_reads on logs.log_id = api_reads.log_id
    left join server_runs on logs.source = server_runs.source
    left join last_steps on logs.log_id = last_steps.log_id
)

select * from final
