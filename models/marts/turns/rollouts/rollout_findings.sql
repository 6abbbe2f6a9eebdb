-- Grain: one row per (kind, subject).
-- Decides what of the rollouts a person should look at: records, runs and arms.
with runs as (select * from {{ ref('rollout_runs') }}),

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
        case when drop_reason = 'conflicting_record' then 'conflicting_rollouts' else 'repeated_rollouts' end as kind,
        source as subject,
        case when drop_reason = 'conflicting_record' then 'warn' else 'info' end as severity,
        record_count || ' records (first: line ' || first_line_number || ') have the key of an earlier record and '
        || case when drop_reason = 'conflicting_record' then 'differ from it; the earlier stands' else 'equal it' end
            as detail
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
