-- Grain: one row per min_run_tokens.
-- Compares, for each length a zero run might need to be a tool block, the blocks found with the calls reported.
with rollouts as (
    select * from {{ ref('rollouts') }}
    where drop_reason is null and assistant_tokens is not null
),

evidence as (
    select
        rollouts.rollout_number,
        records.zero_run_starts,
        records.zero_run_tokens
    from rollouts
    inner join {{ ref('stg_rollouts__records') }} as records
        on rollouts.source_name = records.source_name and rollouts.line_number = records.line_number
),

zero_runs as (
    select
        rollout_number,
        run_tokens
    from evidence {{ explode_pairs('zero_run_starts', 'start_idx', 'zero_run_tokens', 'run_tokens') }}
),

lengths as (
    select
        rollout_number,
        run_tokens,
        count(*) as run_count
    from zero_runs
    group by rollout_number, run_tokens
),

thresholds as (
    select cast({{ var('min_zero_run_tokens') }} as bigint) as min_run_tokens
    {%- for tokens in var('calibration_zero_run_tokens') %}
    union
    select cast({{ tokens }} as bigint)
    {%- endfor %}
),

block_counts as (
    select
        thresholds.min_run_tokens,
        lengths.rollout_number,
        sum(lengths.run_count) as block_count
    from lengths
    inner join thresholds on lengths.run_tokens >= thresholds.min_run_tokens
    group by thresholds.min_run_tokens, lengths.rollout_number
),

final as (
    select
        thresholds.min_run_tokens,
        count(rollouts.rollout_number) as rollout_count,
        count(*) filter (where coalesce(block_counts.block_count, 0) = rollouts.call_count) as matching_rollout_count,
        count(*) filter (where coalesce(block_counts.block_count, 0) = rollouts.call_count)
        / nullif(count(rollouts.rollout_number), 0) as matching_fraction,
        thresholds.min_run_tokens = {{ var('min_zero_run_tokens') }} as is_used
    from thresholds
    cross join rollouts
    left join block_counts
        on
            thresholds.min_run_tokens = block_counts.min_run_tokens
            and rollouts.rollout_number = block_counts.rollout_number
    group by thresholds.min_run_tokens
)

select * from final
