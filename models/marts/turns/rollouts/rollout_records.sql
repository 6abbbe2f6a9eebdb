-- Grain: one row per (source_name, line_number): every record that landed.
-- Decides which record stands for a key that several have: the first, by shard number, path and line. Rollouts are
-- numbered run by run: a number over all of them at once would need one machine to sort them.
with records as (select * from {{ ref('stg_rollouts__records') }}),

files as (select * from {{ ref('stg_rollouts__files') }}),

ordered as (
    select
        records.source_name,
        records.line_number,
        records.run_name,
        records.step_idx,
        records.sample_idx,
        records.record_digest,
        row_number() over along_key as key_place,
        first_value(records.record_digest) over along_key as first_digest
    from records
    inner join files on records.source_name = files.source_name
    window along_key as (
        partition by records.run_name, records.step_idx, records.sample_idx
        order by files.shard_number, files.source, records.line_number
    )
),

run_names as (
    select distinct run_name
    from records
),

numbered_runs as (
    select
        run_names.run_name,
        count(earlier.run_name) as runs_before
    from run_names
    left join run_names as earlier on run_names.run_name > earlier.run_name
    group by run_names.run_name
),

final as (
    select
        ordered.source_name,
        ordered.line_number,
        ordered.run_name,
        ordered.step_idx,
        ordered.sample_idx,
        case
            when ordered.key_place = 1 then numbered_runs.runs_before * 1000000000 + row_number() over along_run
        end as rollout_number,
        case
            when ordered.key_place = 1 then null
            when ordered.record_digest = ordered.first_digest then 'duplicate_record'
            else 'conflicting_record'
        end as drop_reason
    from ordered
    inner join numbered_runs on ordered.run_name = numbered_runs.run_name
    window along_run as (
        partition by ordered.run_name, ordered.key_place = 1 order by ordered.step_idx, ordered.sample_idx
    )
)

select * from final
