-- Grain: one row per (repo, repo_type): a Hub repo, or a folder on disk, that holds a cell's record or data.
-- Decides what a companion that was read twice holds: what the first source says.
with companions as (
    select
        *,
        row_number() over first_read as source_rank
    from {{ ref('stg_checkpoints__companions') }}
    window first_read as (partition by repo, repo_type order by source_name)
),

entries as (select * from {{ ref('stg_checkpoints__companion_entries') }}),

counted as (
    select
        source_name,
        repo,
        repo_type,
        sum(file_count) as file_count,
        case when count(*) = count(size_bytes) then sum(size_bytes) end as size_bytes,
        {{ joined_text(
            "entry || case when entry like '%/' then ' (' || cast(file_count as string) || ')' else '' end", ', ', 'entry'
        ) }} as contents
    from entries
    group by source_name, repo, repo_type
),

final as (
    select
        companions.repo,
        companions.repo_type,
        regexp_extract(companions.repo, '^([^/]+)/', 1) as org,
        regexp_extract(companions.repo, '([^/]+)-(record|data)$', 1) as cell,
        regexp_extract(companions.repo, '-(record|data)$', 1) as companion_kind,
        companions.source_kind,
        cast(counted.file_count as bigint) as file_count,
        cast(counted.size_bytes as bigint) as size_bytes,
        counted.contents
    from companions
    left join counted
        on
            companions.source_name = counted.source_name
            and companions.repo = counted.repo
            and companions.repo_type is not distinct from counted.repo_type
    where companions.source_rank = 1
)

select * from final
