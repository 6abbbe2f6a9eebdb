-- Grain: one row per token report of a driving agent (source_name, line_number).
-- Decides what each report adds, so that running totals, replays and repeated lines are never counted twice.
with reports as (
    select
        *,
        usage_format in ('codex', 'codex_exec', 'claude_result') as is_running_total,
        -- A thread of `codex exec` goes on counting in the next file; a total of Claude Code is that of its process.
        case usage_format
            when 'codex_exec' then cell || ':' || coalesce(session_id, source_name)
            when 'claude_result' then source_name || ':' || coalesce(session_id, '')
            else source_name
        end as counter,
        -- Files of `codex exec` hold no times, but a total that never falls.
        case when usage_format = 'codex_exec' then reported_tokens else line_number end as counter_position
    from {{ ref('stg_checkpoints__usage') }}
),

replays as (select * from {{ ref('driver_replays') }}),

placed as (
    select
        reports.*,
        replays.source_name is not null as is_replay,
        lag(reports.reported_tokens) over along_counter as tokens_before,
        lag(reports.last_tokens) over along_counter as last_before,
        lag(reports.logged_at) over along_log as logged_before,
        row_number() over same_message as message_rank,
        min(reports.logged_at) over whole_message as message_at,
        first_value(reports.source_name) over through_session as session_first_log,
        count(case when reports.usage_format = 'claude_result' then 1 end) over same_session as result_count,
        count(case when reports.usage_format in ('codex', 'claude_code') then reports.logged_at end)
            over same_session as timed_count
    from reports
    left join replays on reports.source_name = replays.source_name and reports.line_number = replays.line_number
    window
        along_counter as (
            partition by usage_format, counter order by counter_position, reports.source_name, reports.line_number
        ),
        along_log as (partition by reports.source_name order by reports.line_number),
        same_session as (partition by reports.cell, reports.session_id),
        through_session as (
            partition by reports.cell, reports.usage_format, reports.session_id
            order by reports.logged_at nulls last, reports.source_name, reports.line_number
            rows between unbounded preceding and unbounded following
        ),
        same_message as (
            partition by reports.cell, reports.usage_format, reports.message_id
            order by
                -reports.reported_tokens, reports.logged_at nulls last, reports.source_name, reports.line_number
        ),
        whole_message as (partition by reports.cell, reports.usage_format, reports.message_id)
),

compared as (
    select
        *,
        reported_tokens - tokens_before as growth_tokens,
        -- The counter of a fork, or of a session that goes on in another log, starts where that one's stood.
        usage_format = 'codex' and tokens_before is null
        and (parent_session_id is not null or coalesce(session_id <> '' and session_first_log <> source_name, false))
            as is_inherited
    from placed
),

labelled as (
    select
        *,
        -- The last call alone took more than the counter grew: it does not count from where it stood.
        is_running_total
        and coalesce(
            growth_tokens < 0
            or (growth_tokens > 0 and growth_tokens < last_tokens)
            or (growth_tokens = 0 and last_tokens = reported_tokens and last_tokens <> last_before), false
        ) as is_reset,
        case
            when is_replay then 'replayed'
            when usage_format in ('codex_exec', 'claude_result') and session_id is not null and timed_count > 0
                then 'in_session_log'
            when usage_format = 'claude_code' and logged_at is null and session_id is not null and result_count > 0
                then 'in_result'
            when message_id is not null and message_rank > 1 then 'same_message'
            when
                is_running_total
                and growth_tokens = 0
                and (last_tokens is null or last_tokens <> reported_tokens or last_tokens = last_before)
                then 'repeated'
        end as drop_reason
    from compared
),

final as (
    select
        source_name,
        line_number,
        cell,
        usage_format,
        session_id,
        parent_session_id,
        message_id,
        logged_at,
        case when usage_format = 'claude_code' and message_id <> '' then message_at else logged_at end as spent_at,
        cast(reported_tokens as bigint) as reported_tokens,
        cast(last_tokens as bigint) as last_tokens,
        cast(
            case
                when drop_reason is not null then 0
                when is_inherited then last_tokens
                when is_reset and usage_format = 'codex' then coalesce(last_tokens, reported_tokens)
                when is_running_total and not is_reset then coalesce(growth_tokens, reported_tokens)
                else reported_tokens
            end as bigint
        ) as spent_tokens,
        drop_reason,
        is_reset,
        is_inherited,
        coalesce(logged_at < logged_before, false) as is_clock_backwards
    from labelled
)

select * from final
