-- Grain: one row per token report of a driving agent (source_name, line_number).
-- Decides what each report adds, so that running totals, replays and repeated lines are never counted twice.
with reports as (select * from {{ ref('stg_checkpoints__usage') }}),

running as (
    select
        *,
        lag(reported_tokens) over along_log as tokens_before,
        lag(logged_at) over along_log as logged_before,
        first_value(source_name) over same_totals as first_told_by,
        min(source_name) over same_session as first_log_of_session,
        row_number() over same_message as message_rank,
        min(logged_at) over whole_message as message_at
    from reports
    window
        along_log as (partition by source_name order by line_number),
        same_totals as (
            partition by cell, usage_format, input_tokens, cached_input_tokens, output_tokens
            order by case when parent_session_id is null then 0 else 1 end, source_name, line_number
            rows between unbounded preceding and unbounded following
        ),
        same_session as (
            partition by cell, usage_format, session_id
            order by source_name rows between unbounded preceding and unbounded following
        ),
        same_message as (
            partition by cell, usage_format, message_id
            order by reported_tokens desc, logged_at asc, source_name asc, line_number asc
        ),
        whole_message as (
            partition by cell, usage_format, message_id
            order by logged_at rows between unbounded preceding and unbounded following
        )
),

labelled as (
    select
        *,
        usage_format = 'codex' as is_running_total,
        usage_format = 'codex' and coalesce(reported_tokens < tokens_before, false) as is_reset,
        case
            when
                usage_format = 'codex'
                and first_told_by <> source_name
                and (parent_session_id is not null or (session_id is not null and first_log_of_session <> source_name))
                then 'replayed'
            when usage_format = 'codex' and reported_tokens = tokens_before then 'repeated'
            when usage_format = 'claude_code' and message_id is not null and message_rank > 1 then 'same_message'
        end as drop_reason
    from running
),

final as (
    select
        source_name,
        line_number,
        cell,
        usage_format,
        session_id,
        message_id,
        logged_at,
        case when usage_format = 'claude_code' and message_id is not null then message_at else logged_at end
            as spent_at,
        cast(reported_tokens as bigint) as reported_tokens,
        cast(
            case
                when drop_reason is not null then 0
                when is_running_total and not is_reset then reported_tokens - coalesce(tokens_before, 0)
                else reported_tokens
            end as bigint
        ) as spent_tokens,
        drop_reason,
        is_reset,
        coalesce(logged_at < logged_before, false) as is_clock_backwards
    from labelled
)

select * from final
