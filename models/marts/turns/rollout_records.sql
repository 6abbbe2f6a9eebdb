-- Grain: one row per (source_name, line_number): every record that landed.
-- Decides which record stands for a key that several have: the first, by shard number, path and line.
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

final as (
    select
        source_name,
        line_number,
        run_name,
        step_idx,
        sample_idx,
        case
            when key_place = 1 then row_number() over along_rollouts
        end as rollout_number,
        case
            when key_place = 1 then null
            when record_digest = first_digest then 'duplicate_record'
            else 'conflicting_record'
        end as drop_reason
    from ordered
    window along_rollouts as (order by key_place, run_name, step_idx, sample_idx, source_name, line_number)
)

select * from final
