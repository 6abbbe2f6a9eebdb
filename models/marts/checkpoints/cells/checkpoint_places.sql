-- Grain: one row per place that holds or held a checkpoint (source_name, folder_idx): a folder, a revision, a line.
-- Decides which checkpoint lies there: of a spare repo what is declared, else what its name says. Two of no cell that
-- state one id stay apart: the second is labelled.
with folders as (select * from {{ ref('stg_checkpoints__folders') }}),

spares as (select * from {{ source('declared', 'spare_repos') }}),

recovered as (
    select
        folders.source_name,
        folders.folder_idx,
        spares.cell,
        spares.family,
        coalesce(
            spares.step,
            cast({{ step_number('folders.step_name') }} as string),
            nullif(regexp_extract(regexp_replace(folders.stated_model_id, '@.*$', ''), '([0-9]+)$', 1), '')
        ) as step_name,
        row_number() over longest_first as match_rank
    from folders
    inner join spares on {{ is_spare_of('folders', 'spares') }}
    where folders.source_kind <> 'sweep'
    window longest_first as (
        partition by folders.source_name, folders.folder_idx
        order by length(spares.repo) desc, spares.repo asc, spares.cell asc, spares.family asc, spares.step asc
    )
),

named as (
    select
        folders.source_name,
        folders.folder_idx,
        folders.source_kind,
        folders.org,
        coalesce(recovered.cell, folders.cell) as cell,
        coalesce(recovered.family, folders.family) as family,
        case when recovered.cell is null then folders.step_name else recovered.step_name end as step_name,
        folders.stated_model_id,
        folders.repo,
        folders.branch,
        folders.folder_path,
        folders.hour_in_id,
        recovered.cell is not null as is_spare,
        coalesce(
            {{ checkpoint_key('recovered.cell', 'recovered.family', 'recovered.step_name', 'null') }},
            folders.named_key,
            folders.stated_model_id
        ) as named_key
    from folders
    left join recovered
        on
            folders.source_name = recovered.source_name
            and folders.folder_idx = recovered.folder_idx
            and recovered.match_rank = 1
),

ranked as (
    select
        *,
        row_number() over as_they_lie as namesake_rank
    from named
    window as_they_lie as (
        partition by named_key
        order by
            case source_kind when 'folder' then 1 when 'hub' then 2 else 3 end, folder_path, source_name, folder_idx
    )
),

final as (
    select
        source_name,
        folder_idx,
        source_kind,
        org,
        cell,
        family,
        step_name,
        stated_model_id,
        repo,
        branch,
        folder_path,
        hour_in_id,
        is_spare,
        case
            when cell is null and namesake_rank > 1 then named_key || '~' || cast(namesake_rank as string)
            else named_key
        end as checkpoint_key,
        case when cell is null and namesake_rank > 1 then named_key end as duplicate_of
    from ranked
)

select * from final
