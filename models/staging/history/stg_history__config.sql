-- Grain: one row per (log, config key).
select
    source_name as log_id,
    config_key,
    value_json,
    {{ json_text('value_json') }} as value_text
from {{ source('history', 'history_config') }}
