-- Grain: one row per (run_id, file_row_idx, heading): a cell of a by-run file.
-- Decides a column's heading: a nested key whose joined name another key of its log has too is headed by its path.
with history as (select * from {{ ref('stg_history__values') }}),

file_rows as (select * from {{ ref('run_file_rows') }}),

nested_metrics as (select * from {{ ref('nested_metrics') }}),

final as (
    select
        file_rows.run_id,
        file_rows.file_row_idx,
        case
            when nested_metrics.is_ambiguous and history.key_path is not null then history.key_path
            else history.metric
        end as heading,
        history.value,
        history.value_text
    from history
    inner join file_rows on history.log_id = file_rows.log_id and history.row_idx = file_rows.row_idx
    left join nested_metrics on history.log_id = nested_metrics.log_id and history.metric = nested_metrics.metric
)

select * from final
