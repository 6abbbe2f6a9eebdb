-- Grain: one row per line of a verl FileLogger file.
select
    native_rows.source_name,
    native_rows.line_number,
    native_files.run_id as reported_run_id,
    native_files.file_name,
    native_files.segment_name,
    sources.path as source,
    native_rows.step,
    native_rows.metric_count
from {{ source('rounds', 'native_rows') }} as native_rows
inner join {{ source('rounds', 'native_files') }} as native_files
    on native_rows.source_name = native_files.source_name
inner join {{ source('landing', 'landed_sources') }} as sources
    on native_rows.source_name = sources.source_name
