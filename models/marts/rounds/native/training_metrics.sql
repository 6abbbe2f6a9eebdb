-- Grain: one row per (run_id, step, metric).
-- The native metrics of each completed step of formal runs, over all launches; standing lines only.
select
    native_rows.run_id,
    native_rows.step,
    native_values.metric,
    native_values.value as native_value,
    native_values.value_text as native_value_text,
    native_rows.source_file,
    native_rows.launch_number
from {{ ref('native_rows') }} as native_rows
inner join {{ ref('stg_history__values') }} as native_values
    on
        native_rows.source_name = native_values.log_id
        and native_rows.row_idx = native_values.row_idx
where
    native_rows.drop_reason is null
    and not native_rows.is_diagnostic
    and substr(native_values.metric, 1, 1) <> '_'
