-- Grain: one row per log_id.
-- Decides which kind of source stands where one run came from several: the one with the most history rows.
with logs as (select * from {{ ref('stg_history__logs') }}),

kinds as (
    select
        run_id,
        source_kind,
        row_number() over (
            partition by run_id
            order by sum(row_count) desc, case source_kind when 'log' then 1 when 'api' then 2 else 3 end
        ) as preference
    from logs
    where run_id is not null
    group by run_id, source_kind
),

final as (
    select
        logs.log_id,
        logs.run_id,
        logs.source,
        logs.source_kind,
        logs.log_number,
        logs.started_at,
        logs.row_count,
        case
            when logs.has_exit_record is not null then not logs.has_exit_record
            when logs.state in ('finished', 'failed', 'killed') then false
            when logs.state is not null then true
        end as is_unfinished,
        logs.exit_code,
        logs.lost_tail_bytes,
        coalesce(kinds.preference > 1, false) as is_duplicate_source
    from logs
    left join kinds on logs.run_id = kinds.run_id and logs.source_kind = kinds.source_kind
)

select * from final
