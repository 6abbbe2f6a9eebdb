-- Grain: one row per rollout_number: each split rollout of a model whose tool-call tokens are declared.
-- Decides which of the policy's tokens belong to tool calls. Markers among inserted tokens do not count; an open marker
-- inside a span and a close marker outside one are tokens like any other.
with evidence as (
    select
        splits.rollout_number,
        splits.assistant_tokens,
        records.zero_run_starts,
        records.zero_run_tokens,
        records.special_positions,
        records.special_ids,
        runs.tool_call_open_id,
        runs.tool_call_close_id
    from {{ ref('stg_rollouts__records') }} as records
    inner join {{ ref('rollout_records') }} as numbered
        on records.source_name = numbered.source_name and records.line_number = numbered.line_number
    inner join {{ ref('rollout_splits') }} as splits on numbered.rollout_number = splits.rollout_number
    inner join {{ ref('rollout_runs') }} as runs on records.run_name = runs.run_name
    where runs.is_scanned
),

zero_runs as (
    select
        rollout_number,
        start_idx,
        run_tokens
    from evidence {{ explode_pairs('zero_run_starts', 'start_idx', 'zero_run_tokens', 'run_tokens') }}
),

specials as (
    select
        rollout_number,
        tool_call_open_id,
        tool_call_close_id,
        token_idx,
        token_id
    from evidence {{ explode_pairs('special_positions', 'token_idx', 'special_ids', 'token_id') }}
),

events as (
    select
        rollout_number,
        start_idx as token_idx,
        run_tokens as inserted_tokens,
        start_idx + run_tokens as inserted_until_idx,
        cast(null as boolean) as is_open
    from zero_runs
    where run_tokens >= {{ var('min_zero_run_tokens') }}
    union all
    select
        rollout_number,
        token_idx,
        0,
        0,
        token_id = tool_call_open_id
    from specials
    where token_id in (tool_call_open_id, tool_call_close_id)
),

placed as (
    select
        rollout_number,
        is_open,
        token_idx,
        sum(inserted_tokens) over so_far as inserted_tokens_before,
        max(inserted_until_idx) over so_far as inserted_until_idx
    from events
    window so_far as (
        partition by rollout_number order by token_idx, is_open nulls first
        rows between unbounded preceding and current row
    )
),

markers as (
    select
        rollout_number,
        is_open,
        token_idx - inserted_tokens_before as assistant_token_idx,
        coalesce(lag(is_open) over along_assistant, false) as is_inside_span
    from placed
    where is_open is not null and token_idx >= inserted_until_idx
    window along_assistant as (partition by rollout_number order by token_idx)
),

spans as (
    select
        rollout_number,
        count(*) filter (where is_open) as span_count,
        count(*) filter (where not is_open) as closed_span_count,
        sum(case when is_open then -assistant_token_idx else assistant_token_idx + 1 end) as ends_minus_starts_tokens,
        max(case when is_open then assistant_token_idx end) as last_start_idx
    from markers
    where is_open <> is_inside_span
    group by rollout_number
),

final as (
    select
        evidence.rollout_number,
        coalesce(spans.span_count, 0) as tool_call_span_count,
        coalesce(spans.span_count > spans.closed_span_count, false) as is_malformed_tool_call,
        cast(
            coalesce(
                spans.ends_minus_starts_tokens
                + case when spans.span_count > spans.closed_span_count then evidence.assistant_tokens else 0 end,
                0
            ) as bigint
        ) as tool_call_tokens,
        cast(
            case
                when spans.span_count > spans.closed_span_count then evidence.assistant_tokens - spans.last_start_idx
                else 0
            end as bigint
        ) as unclosed_tool_call_tokens
    from evidence
    left join spans on evidence.rollout_number = spans.rollout_number
)

select * from final
