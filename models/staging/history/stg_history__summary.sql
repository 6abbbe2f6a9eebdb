-- Grain: one row per (log, summary key). A number also where W&B writes NaN and infinities as text.
select
    source_name as log_id,
    summary_key as metric,
    value_json,
    try_cast({{ json_text('value_json') }} as double) as value
from {{ source('history', 'history_summary') }}
