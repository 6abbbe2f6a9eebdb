-- Grain: one row per rollout_number: each rollout that has a logprob for every token.
-- Decides which tokens were inserted: those of a long run of exactly zero logprobs; the policy wrote the others.
with evidence as (
    select
        numbered.rollout_number,
        records.response_tokens,
        records.zero_run_starts,
        records.zero_run_tokens
    from {{ ref('stg_rollouts__records') }} as records
    inner join {{ ref('rollout_records') }} as numbered
        on records.source_name = numbered.source_name and records.line_number = numbered.line_number
    where records.has_logprobs and numbered.drop_reason is null
),

zero_runs as (
    select
        rollout_number,
        start_idx,
        run_tokens
    from evidence {{ explode_pairs('zero_run_starts', 'start_idx', 'zero_run_tokens', 'run_tokens') }}
),

blocks as (
    select
        rollout_number,
        count(*) as tool_block_count,
        sum(run_tokens) as tool_output_tokens,
        min(start_idx) as first_start_idx,
        max(start_idx + run_tokens) as last_end_idx
    from zero_runs
    where run_tokens >= {{ var('min_zero_run_tokens') }}
    group by rollout_number
),

counted as (
    select
        evidence.rollout_number,
        evidence.response_tokens,
        coalesce(blocks.tool_block_count, 0) as tool_block_count,
        coalesce(blocks.tool_output_tokens, 0) as tool_output_tokens,
        -- Runs are maximal, so tokens of the policy lie between any two blocks.
        coalesce(blocks.tool_block_count - 1, 0) as stretches_between,
        case when coalesce(blocks.first_start_idx, evidence.response_tokens) > 0 then 1 else 0 end as stretches_before,
        case when blocks.last_end_idx < evidence.response_tokens then 1 else 0 end as stretches_after
    from evidence
    left join blocks on evidence.rollout_number = blocks.rollout_number
),

final as (
    select
        rollout_number,
        cast(response_tokens - tool_output_tokens as bigint) as assistant_tokens,
        cast(tool_output_tokens as bigint) as tool_output_tokens,
        tool_block_count,
        cast(stretches_before + stretches_between + stretches_after as bigint) as assistant_segment_count
    from counted
)

select * from final
