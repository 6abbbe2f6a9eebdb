-- Grain: one row per token report. reported_tokens is all input, cached input once, plus output; last_tokens is that of
-- the last call alone, null where the report does not state it.
select
    source_name,
    cell,
    line_number,
    usage_format,
    session_id,
    parent_session_id,
    session_started_at,
    message_id,
    logged_at,
    input_tokens,
    cached_input_tokens,
    output_tokens,
    last_input_tokens,
    last_output_tokens,
    coalesce(input_tokens, 0) + coalesce(output_tokens, 0)
    + case
        when usage_format in ('claude_code', 'claude_result')
            then coalesce(cached_input_tokens, 0) + coalesce(cache_write_tokens, 0)
        else 0
    end as reported_tokens,
    coalesce(last_input_tokens + coalesce(last_output_tokens, 0), last_output_tokens)
    + case
        when usage_format = 'claude_result'
            then coalesce(last_cached_input_tokens, 0) + coalesce(last_cache_write_tokens, 0)
        else 0
    end as last_tokens
from {{ source('checkpoints', 'driver_usage') }}
