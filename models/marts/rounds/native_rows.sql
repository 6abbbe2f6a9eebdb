-- Grain: one row per line of a verl FileLogger file (source_name, line_number).
-- Decides which line stands for a step that several launches report: the later launch's. Launches are ordered by first
-- step, the file without a `before_` part last.
with lines as (
    select
        native_rows.*,
        identities.run_id,
        identities.is_diagnostic
    from {{ ref('stg_rounds__native_rows') }} as native_rows
    inner join {{ ref('run_identities') }} as identities
        on native_rows.reported_run_id = identities.reported_run_id
),

files as (
    select
        run_id,
        source_name,
        cast(
            row_number() over (
                partition by run_id
                order by
                    case when segment_name is null then 1 else 0 end,
                    min(step),
                    file_name,
                    source
            ) as bigint
        ) as launch_number
    from lines
    group by run_id, source_name, segment_name, file_name, source
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
        metric_count,
        case when recency > 1 then 'superseded' end as drop_reason,
        case when recency > 1 then standing_source_name end as superseded_by_source_name,
        is_diagnostic
    from ordered
)

select * from final
