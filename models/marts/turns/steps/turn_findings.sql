-- Grain: one row per (kind, subject).
-- Decides what of the rollouts a person should look at.
with rollouts as (select * from {{ ref('rollouts') }}),

runs as (select * from {{ ref('rollout_runs') }}),

records as (select * from {{ ref('stg_rollouts__records') }}),

files as (select * from {{ ref('stg_rollouts__files') }}),

repeated as (
    select
        files.source,
        record_keys.drop_reason,
        count(*) as record_count,
        min(record_keys.line_number) as first_line_number
    from {{ ref('rollout_records') }} as record_keys
    inner join files on record_keys.source_name = files.source_name
    where record_keys.drop_reason is not null
    group by files.source, record_keys.drop_reason
),

unsplit as (
    select
        files.source,
        count(*) as record_count,
        min(records.line_number) as first_line_number
    from records
    inner join files on records.source_name = files.source_name
    where not records.has_logprobs
    group by files.source
),

misaligned as (
    select
        run_name,
        step_idx
    from rollouts
    where tool_block_count is not null and call_count is not null
    group by run_name, step_idx
    having count(*) filter (where tool_block_count = call_count) < {{ var('aligned_rollout_fraction') }} * count(*)
),

batches as (
    select
        *,
        max(block_call_difference_fraction) over (partition by arm) as worst_fraction
    from {{ ref('rollout_batches') }}
),

best as (select max(matching_fraction) as best_fraction from {{ ref('zero_run_calibration') }}),

calibration as (
    select
        tried.*,
        best.best_fraction
    from {{ ref('zero_run_calibration') }} as tried
    cross join best
),

arms as (
    select arm from {{ ref('arms') }}
),

rollout_arms as (
    select arm from runs
),

lineages as (
    select
        arm,
        max(case when is_chosen then lineage_step_count end) as chosen_step_count,
        max(lineage_step_count) as longest_step_count
    from {{ ref('rollout_segments') }}
    group by arm
),

final as (
    select
        'request_info_misaligned' as kind,
        run_name as subject,
        'warn' as severity,
        'blocks and reported calls agree in fewer than half of the rollouts of ' || count(*)
        || ' steps (first: step_idx ' || min(step_idx) || '): the trainer may have filtered one list and not the '
        || 'other, so calls, timeouts and tool errors of these steps belong to other rollouts' as detail
    from misaligned
    group by run_name
    union all
    select
        case when drop_reason = 'conflicting_record' then 'conflicting_rollouts' else 'repeated_rollouts' end,
        source,
        case when drop_reason = 'conflicting_record' then 'warn' else 'info' end,
        record_count || ' records (first: line ' || first_line_number || ') have the key of an earlier record and '
        || case when drop_reason = 'conflicting_record' then 'differ from it; the earlier stands' else 'equal it' end
    from repeated
    union all
    select
        'logprobs_do_not_match_tokens',
        source,
        'warn',
        record_count || ' records (first: line ' || first_line_number
        || ') have no logprobs, or not one per response token: they are not split'
    from unsplit
    union all
    select
        'tool_parser_mismatch',
        run_name,
        'warn',
        marked_record_count || ' of ' || record_count || ' records hold tool-call markers, but none reports a call: '
        || 'check the tool parser, and exclude the run in declared/run_exclusions.csv if it used the wrong one'
    from runs
    where has_tool_parser_mismatch
    union all
    select
        'unknown_tokenizer',
        run_name,
        'warn',
        case
            when model_name is null then 'its metadata names no model, so its tool-call tokens are unknown'
            when model_pattern is null
                then 'declared/tokenizers.csv has no row for ' || model_name || '; add it and ingest the shards again'
            else 'its tokenizer was declared after the shards were read; ingest them again'
        end
    from runs
    where not is_scanned
    union all
    select
        'batch_size_differs',
        arm,
        'warn',
        count(*) || ' steps (first: training_step ' || min(training_step) || ', with '
        || min_by(n_rollouts, training_step) || ' rollouts) do not have the declared '
        || max(expected_rollouts_per_step)
    from batches
    where n_rollouts <> expected_rollouts_per_step
    group by arm
    union all
    select
        'blocks_and_calls_differ',
        arm,
        'warn',
        count(*) || ' steps differ by more than a fraction of {{ var("block_call_fraction") }} (worst: '
        || round(max(worst_fraction), 6) || ' at training_step '
        || min(case when block_call_difference_fraction = worst_fraction then training_step end) || ')'
    from batches
    where block_call_difference_fraction > {{ var('block_call_fraction') }}
    group by arm
    union all
    select
        'calibration_peaks_elsewhere',
        'min_zero_run_tokens',
        'warn',
        'blocks match calls most often at ' || min(case when matching_fraction = best_fraction then min_run_tokens end)
        || ' tokens (' || round(max(best_fraction), 4) || '), not at the chosen {{ var("min_zero_run_tokens") }}'
    from calibration
    having
        max(case when is_used then matching_rollout_count end) < max(matching_rollout_count)
    union all
    select
        'sequence_lengths_differ',
        arm,
        'warn',
        count(*) || ' steps (first: training_step ' || min(training_step) || ') have another mean response length than '
        || '{{ var("sequence_length_metric") }}: rollouts are missing, doubled, or joined to the wrong step'
    from {{ ref('turn_reconciliation') }}
    where abs(difference) > {{ var('reconciliation_fraction') }} * abs(logged_sequence_length)
    group by arm
    union all
    select
        'arm_without_rollouts',
        arms.arm,
        'info',
        'no rollouts of it were saved or ingested; its turns are unknown'
    from arms
    left join rollout_arms on arms.arm = rollout_arms.arm
    where rollout_arms.arm is null and exists (select 1 from runs)
    union all
    select
        'longer_rollout_lineage_not_chosen',
        arm,
        'warn',
        'another lineage of its rollouts has ' || longest_step_count || ' steps, the chosen one ' || chosen_step_count
    from lineages
    where longest_step_count > chosen_step_count
)

select
    kind,
    subject,
    'turns' as domain,
    severity,
    detail
from final
