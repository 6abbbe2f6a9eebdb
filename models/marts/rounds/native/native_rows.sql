-- Grain: one row per line of a verl FileLogger file (source_name, line_number), a history of the producer `verl`.
-- Decides which line stands for a step that several launches report: the later launch's. Launches are ordered by first
-- step, the file without a `before_` part last.
with metric_counts as (
    select
        log_id,
        row_idx,
        count(*) as metric_count
    from {{ ref('stg_history__values') }}
    where substr(metric, 1, 1) <> '_'
    group by log_id, row_idx
),

lines as (
    select
        logs.log_id as source_name,
        log_rows.row_idx,
        log_rows.record_number as line_number,
        logs.launch_name,
        logs.source,
        regexp_extract(logs.source, '([^/]*)$', 1) as file_name,
        log_rows.step_idx as step,
        coalesce(metric_counts.metric_count, 0) as metric_count,
        identities.run_id,
        identities.is_diagnostic
    from {{ ref('stg_history__logs') }} as logs
    inner join {{ ref('stg_history__rows') }} as log_rows on logs.log_id = log_rows.log_id
    inner join {{ ref('run_identities') }} as identities on logs.run_id = identities.reported_run_id
    left join metric_counts on log_rows.log_id = metric_counts.log_id and log_rows.row_idx = metric_counts.row_idx
    where logs.producer = 'verl'
),

files as (
    select
        run_id,
        source_name,
        cast(
            row_number() over (
                partition by run_id
                order by
                    case when launch_name is null then 1 else 0 end,
                    min(step),
                    file_name,
                    source
            ) as bigint
        ) as launch_number
    from lines
    group by run_id, source_name, launch_name, file_name, source
),

ordered as (
    select
        lines.*,
        files.launch_number,
        row_number() over standing as recency,
        first_value(lines.source_name) over standing as standing_source_name
    from lines
    inner join files on lines.source_name = files.source_name and lines.run_id = files.run_id
    window
        standing as (
            partition by lines.run_id, lines.step
            order by files.launch_number desc, lines.line_number desc
            rows between unbounded preceding and current row
        )
),

final as (
    select
        run_id,
        step,
        launch_number,
        source as source_file,
        source_name,
        line_number,
        row_idx,
        metric_count,
        case when recency > 1 then 'superseded' end as drop_reason,
        case when recency > 1 then standing_source_name end as superseded_by_source_name,
        is_diagnostic
    from ordered
)

select * from final
