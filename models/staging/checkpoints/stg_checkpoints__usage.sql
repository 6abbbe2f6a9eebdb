-- Grain: one row per token report. reported_tokens is all input, cached input once, plus output.
select
    source_name,
    cell,
    line_number,
    usage_format,
    session_id,
    parent_session_id,
    message_id,
    logged_at,
    input_tokens,
    cached_input_tokens,
    output_tokens,
    coalesce(input_tokens, 0) + coalesce(output_tokens, 0)
    + case
        when usage_format = 'claude_code' then coalesce(cached_input_tokens, 0) + coalesce(cache_write_tokens, 0)
        else 0
    end as reported_tokens
from {{ source('checkpoints', 'driver_usage') }}
