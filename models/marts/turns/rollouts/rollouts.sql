-- Grain: one row per (run_name, step_idx, sample_idx).
-- Decides which rollouts count: not those of excluded runs, discarded attempts, or steps that were never trained.
with records as (select * from {{ ref('stg_rollouts__records') }}),

keys as (select * from {{ ref('rollout_records') }}),

standing as (
    select
        run_name,
        step_idx,
        sample_idx,
        max(case when drop_reason is null then source_name end) as source_name,
        max(case when drop_reason is null then line_number end) as line_number,
        max(rollout_number) as rollout_number,
        count(*) as record_count,
        count(*) filter (where drop_reason = 'conflicting_record') as conflicting_record_count
    from keys
    group by run_name, step_idx, sample_idx
),

runs as (select * from {{ ref('rollout_runs') }}),

segments as (select * from {{ ref('rollout_segments') }}),

-- Beyond a hole ordinals are too low, so such a curve can't tell which step was its last.
trained as (
    select
        arm,
        max(training_step) as last_training_step
    from {{ ref('arm_steps') }}
    group by arm
    having not bool_or(is_beyond_step_hole)
),

splits as (select * from {{ ref('rollout_splits') }}),

tool_calls as (select * from {{ ref('rollout_tool_calls') }}),

final as (
    select
        records.run_name,
        records.step_idx,
        records.sample_idx,
        standing.rollout_number,
        runs.arm,
        records.step_idx + 1 as training_step,
        case
            when runs.is_excluded then 'excluded'
            when segments.superseded_from_step_idx <= records.step_idx then 'rolled_back'
            when not segments.is_chosen then 'other_lineage'
            when records.step_idx + 1 > trained.last_training_step then 'never_trained'
        end as drop_reason,
        records.prompt_idx,
        records.dataset,
        records.prompt_tokens,
        records.response_tokens,
        splits.assistant_tokens,
        splits.tool_output_tokens,
        splits.tool_block_count,
        records.call_count,
        splits.assistant_segment_count,
        tool_calls.tool_call_tokens,
        splits.assistant_tokens - tool_calls.tool_call_tokens as non_tool_call_tokens,
        tool_calls.tool_call_span_count,
        tool_calls.unclosed_tool_call_tokens,
        tool_calls.is_malformed_tool_call,
        records.finish_reason,
        records.reward,
        records.advantage,
        standing.record_count,
        standing.conflicting_record_count,
        records.source_name,
        records.line_number
    from standing
    inner join records on standing.source_name = records.source_name and standing.line_number = records.line_number
    inner join runs on records.run_name = runs.run_name
    left join segments on runs.arm = segments.arm and runs.run_name = segments.run_name
    left join trained on runs.arm = trained.arm
    left join splits on standing.rollout_number = splits.rollout_number
    left join tool_calls on standing.rollout_number = tool_calls.rollout_number
)

select * from final
