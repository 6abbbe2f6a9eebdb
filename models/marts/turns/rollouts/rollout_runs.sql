-- Grain: one row per run_name that has records.
-- Decides a rollout run's arm, start and tokenizer, whether it is excluded, and whether its parser missed the calls.
with records as (select * from {{ ref('stg_rollouts__records') }}),

wandb_runs as (
    select
        run_name,
        min(run_id) as run_id,
        min(arm) as arm,
        min(started_at) as started_at
    from {{ ref('run_arms') }}
    where run_name is not null
    group by run_name
    having count(distinct arm) = 1
),

metadata as (
    select
        run_name,
        min(started_at) as started_at
    from {{ ref('stg_rollouts__runs') }}
    group by run_name
),

tokenizers as (select * from {{ ref('rollout_tokenizers') }}),

assignments as (select * from {{ source('declared', 'arm_assignments') }}),

exclusions as (
    select * from {{ source('declared', 'run_exclusions') }}
    where run_id is not null or arm is not null
),

run_names as (
    select distinct
        run_name,
        cast(nullif(regexp_extract(run_name, '__([0-9]{1,11})$', 1), '') as bigint) as epoch_seconds
    from records
),

named as (
    select
        run_names.run_name,
        wandb_runs.run_id,
        coalesce(
            {{ assigned_arm('assignments.arm', 'run_names.run_name', 'run_names.run_name', 'run_names.run_name') }},
            wandb_runs.arm,
            nullif(regexp_extract(run_names.run_name, '^(.+)__-?[0-9]+__[0-9]+$', 1), ''),
            run_names.run_name
        ) as arm,
        coalesce(
            wandb_runs.started_at,
            metadata.started_at,
            {{ epoch_timestamp('run_names.epoch_seconds') }}
        ) as started_at,
        tokenizers.model_name,
        tokenizers.model_pattern,
        tokenizers.tool_call_open_id,
        tokenizers.tool_call_close_id,
        tokenizers.is_scanned
    from run_names
    left join wandb_runs on run_names.run_name = wandb_runs.run_name
    left join metadata on run_names.run_name = metadata.run_name
    left join assignments on run_names.run_name = assignments.run_id
    inner join tokenizers on run_names.run_name = tokenizers.run_name
),

excluded as (
    select distinct named.run_name
    from named
    inner join exclusions
        on
            (exclusions.run_id is null or named.run_id = exclusions.run_id or named.run_name = exclusions.run_id)
            and named.arm = coalesce(exclusions.arm, named.arm)
            and (exclusions.logged_from is null or named.started_at >= exclusions.logged_from)
            and (exclusions.logged_until is null or named.started_at < exclusions.logged_until)
),

measured as (
    select
        records.run_name,
        count(*) as record_count,
        min(records.step_idx) as first_step_idx,
        max(records.step_idx) as last_step_idx,
        count(distinct records.step_idx) as step_count,
        count(records.call_count) as reporting_record_count,
        max(records.call_count) as most_calls,
        count(*) filter (where array_contains(records.special_ids, named.tool_call_open_id)) as marked_record_count
    from records
    inner join named on records.run_name = named.run_name
    group by records.run_name
),

final as (
    select
        named.run_name,
        named.run_id,
        named.arm,
        named.started_at,
        named.model_name,
        named.model_pattern,
        named.tool_call_open_id,
        named.tool_call_close_id,
        named.is_scanned,
        excluded.run_name is not null as is_excluded,
        measured.record_count,
        measured.first_step_idx,
        measured.last_step_idx,
        measured.step_count,
        case when named.is_scanned then measured.marked_record_count end as marked_record_count,
        case
            when named.is_scanned and measured.reporting_record_count > 0
                then measured.marked_record_count > 0 and measured.most_calls = 0
        end as has_tool_parser_mismatch
    from named
    inner join measured on named.run_name = measured.run_name
    left join excluded on named.run_name = excluded.run_name
)

select * from final
