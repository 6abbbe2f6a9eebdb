-- Grain: one row per file of a saved step (source_name, path).
-- Which run and step each file belongs to, and where it was read.
with files as (select * from {{ ref('stg_rounds__saved_step_files') }}),

identities as (select * from {{ ref('run_identities') }}),

sources as (select * from {{ ref('stg_landing__sources') }}),

final as (
    select
        identities.run_id,
        files.step,
        files.path,
        sources.source,
        files.size_bytes,
        files.sha256,
        files.lora_rank,
        files.lora_alpha,
        identities.is_diagnostic,
        files.source_name
    from files
    inner join identities on files.reported_run_id = identities.reported_run_id
    inner join sources on files.source_name = sources.source_name
)

select * from final
