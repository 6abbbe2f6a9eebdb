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

lineages as (
    select
        arm,
        coalesce(run_id, run_name) as last_run_id,
        lineage_step_count,
        max(case when is_chosen then lineage_step_count end) over (partition by arm) as chosen_step_count,
        row_number() over (partition by arm order by lineage_step_count desc, segment_number desc) as ordinal
    from {{ ref('rollout_segments') }}
),

declared as (select * from {{ source('declared', 'arms') }}),

final as (
    select
        case when drop_reason = 'conflicting_record' then 'conflicting_rollouts' else 'repeated_rollouts' end as kind,
        source as subject,
        case when drop_reason = 'conflicting_record' then 'warn' else 'info' end as severity,
        record_count || ' records (first: line ' || first_line_number || ') have the key of an earlier record and '
        || case when drop_reason = 'conflicting_record' then 'differ from it; the earlier stands' else 'equal it' end
            as detail,
        case
            when drop_reason = 'conflicting_record' then {{ findings_page('conflicting_rollouts') }}
            else {{ findings_page('repeated_rollouts') }}
        end as remedy
    from repeated
    union all
    select
        'logprobs_do_not_match_tokens',
        source,
        'warn',
        record_count || ' records (first: line ' || first_line_number
        || ') have no logprobs, or not one per response token: they are not split',
        {{ findings_page('logprobs_do_not_match_tokens') }}
    from unsplit
    union all
    select
        'tool_parser_mismatch',
        run_name,
        'warn',
        marked_record_count || ' of ' || record_count || ' records hold tool-call markers, but none reports a call: '
        || 'check the tool parser, and exclude the run if it used the wrong one',
        {{ declared_line('run_exclusions', {
            'run_id': 'coalesce(run_id, run_name)', 'reason': "'Wrong tool parser: no call was recorded.'"
        }) }}
    from runs
    where has_tool_parser_mismatch and not is_excluded
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
        end,
        {{ findings_page('unknown_tokenizer') }}
    from runs
    where not is_scanned
    union all
    select
        'arm_without_rollouts',
        arms.arm,
        'info',
        'no rollouts of it were saved or ingested; its turns are unknown',
        {{ findings_page('arm_without_rollouts') }}
    from {{ ref('arms') }} as arms
    left join runs on arms.arm = runs.arm
    where runs.arm is null and (select count(*) from {{ ref('rollout_runs') }}) > 0
    union all
    select
        'longer_rollout_lineage_not_chosen',
        lineages.arm,
        'warn',
        'another lineage of its rollouts (ending in run ' || lineages.last_run_id || ') has '
        || lineages.lineage_step_count || ' steps, the chosen one ' || lineages.chosen_step_count,
        {{ arms_line('lineages.arm', 'declared', {'leaf_run_id': 'lineages.last_run_id'}) }}
    from lineages
    left join declared on lineages.arm = declared.arm
    where lineages.ordinal = 1 and lineages.lineage_step_count > lineages.chosen_step_count
)

select
    *,
    'turns' as domain
from final
