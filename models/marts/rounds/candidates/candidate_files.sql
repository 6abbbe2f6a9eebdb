-- Grain: one row per file of candidates (source_name).
-- Where it lies, and which round and attempt its folder names.
with files as (select * from {{ ref('stg_rounds__candidate_files') }}),

sources as (select * from {{ ref('stg_landing__sources') }}),

final as (
    select
        files.source_name,
        sources.source,
        files.run_in_path,
        files.round_in_path,
        files.attempt_in_path,
        files.has_token_arrays
    from files
    inner join sources on files.source_name = sources.source_name
)

select * from final
