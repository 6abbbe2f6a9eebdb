-- Grain: one row per (log, system sample, GPU, quantity). Keys of GPUs only: `gpu.<idx>.<quantity>`.
select
    source_name as log_id,
    sample_idx,
    logged_at,
    cast(regexp_extract(metric, '^gpu[.]([0-9]+)[.]', 1) as bigint) as gpu_idx,
    regexp_extract(metric, '^gpu[.][0-9]+[.](.*)$', 1) as quantity,
    value
from {{ source('history', 'history_system_values') }}
where regexp_extract(metric, '^gpu[.]([0-9]+)[.]', 1) <> ''
