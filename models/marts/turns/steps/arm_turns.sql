-- Grain: one row per (arm, training_step).
-- Adds up the rollouts that count. Token totals are over rollouts that could be split; tool-call columns are null where
-- any of those is of a model whose tool-call tokens are unknown.
with kept as (
    select * from {{ ref('rollouts') }}
    where drop_reason is null
),

totals as (
    select
        arm,
        training_step,
        step_idx,
        count(*) as n_rollouts,
        count(assistant_tokens) as n_split_rollouts,
        avg(response_tokens) as response_tokens_mean_per_rollout,
        cast(sum(case when assistant_tokens is not null then response_tokens end) as bigint) as response_tokens_total,
        cast(sum(assistant_tokens) as bigint) as assistant_tokens_total,
        cast(sum(assistant_segment_count) as bigint) as assistant_segments_total,
        cast(sum(tool_output_tokens) as bigint) as tool_output_tokens_total,
        cast(sum(tool_block_count) as bigint) as tool_blocks_total,
        cast(sum(case when assistant_tokens is not null then call_count end) as bigint) as num_calls_total,
        count(tool_call_tokens) = count(assistant_tokens) as has_tool_calls,
        cast(sum(tool_call_tokens) as bigint) as tool_call_tokens,
        cast(sum(non_tool_call_tokens) as bigint) as non_tool_call_tokens,
        cast(sum(tool_call_span_count) as bigint) as tool_call_spans,
        cast(sum(unclosed_tool_call_tokens) as bigint) as unclosed_tool_call_tokens,
        count(*) filter (where is_malformed_tool_call) as malformed_rollouts
    from kept
    group by arm, training_step, step_idx
),

final as (
    select
        arm,
        training_step,
        step_idx,
        n_rollouts,
        n_split_rollouts,
        response_tokens_mean_per_rollout,
        response_tokens_total,
        assistant_tokens_total / nullif(assistant_segments_total, 0) as assistant_tokens_per_turn,
        assistant_tokens_total,
        assistant_tokens_total / nullif(n_split_rollouts, 0) as assistant_tokens_mean_per_rollout,
        assistant_segments_total,
        assistant_segments_total / nullif(n_split_rollouts, 0) as assistant_segments_mean_per_rollout,
        tool_output_tokens_total,
        tool_output_tokens_total / nullif(n_split_rollouts, 0) as tool_output_tokens_mean_per_rollout,
        tool_output_tokens_total / nullif(response_tokens_total, 0) as tool_token_fraction,
        tool_blocks_total,
        num_calls_total,
        case when has_tool_calls then tool_call_tokens end as assistant_tool_call_tokens_total,
        case when has_tool_calls then non_tool_call_tokens end as assistant_non_tool_call_tokens_total,
        case when has_tool_calls then tool_call_spans end as assistant_tool_call_spans_total,
        case when has_tool_calls then tool_call_tokens end / nullif(tool_call_spans, 0) as mean_tool_call_length_tokens,
        case when has_tool_calls then tool_call_tokens - unclosed_tool_call_tokens end
        / nullif(tool_call_spans - malformed_rollouts, 0) as mean_closed_tool_call_length_tokens,
        case when has_tool_calls and n_split_rollouts > 0 then malformed_rollouts end as malformed_tool_call_rollouts
    from totals
)

select * from final
