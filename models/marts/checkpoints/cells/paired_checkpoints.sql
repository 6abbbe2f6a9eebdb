-- Grain: one row per checkpoint (checkpoint_key): `cell/family/step`, or the model's name where it is no cell's.
-- Decides which source speaks for a checkpoint: its sweep, else a bare folder, else the Hub or a list, else a published
-- manifest, else the line of an archive log that is all that is left of it.
with folders as (
    select
        folders.*,
        row_number() over nearest_first as source_rank,
        max(folders.hour_in_id) over all_of_it as known_hour_in_id
    from {{ ref('checkpoint_places') }} as folders
    left join {{ ref('stg_checkpoints__cells') }} as cells on folders.source_name = cells.source_name
    window
        nearest_first as (
            partition by folders.checkpoint_key
            order by
                case folders.source_kind when 'sweep' then 1 when 'folder' then 2 else 3 end,
                case when cells.is_standing then 0 else 1 end,
                folders.source_name,
                folders.folder_idx
        ),
        all_of_it as (partition by folders.checkpoint_key)
),

published as (
    select
        *,
        row_number() over as_listed as source_rank
    from {{ ref('stg_checkpoints__published') }}
    window as_listed as (partition by checkpoint_key order by source_name, row_number)
),

archived as (
    select
        checkpoint_key,
        min(cell) as cell,
        min(family) as family,
        min(step_name) as step_name
    from {{ ref('stg_checkpoints__archives') }}
    group by checkpoint_key
),

nearest as (
    select * from folders
    where source_rank = 1
),

first_listed as (
    select * from published
    where source_rank = 1
),

final as (
    select
        coalesce(folders.checkpoint_key, published.checkpoint_key, archived.checkpoint_key) as checkpoint_key,
        case
            when folders.checkpoint_key is not null then folders.source_kind
            when published.checkpoint_key is not null then 'manifest'
            else 'archive'
        end as source_kind,
        folders.source_name,
        folders.folder_idx,
        coalesce(folders.org, published.org) as stated_org,
        coalesce(folders.cell, published.cell, archived.cell) as cell,
        coalesce(folders.family, published.family, archived.family) as family,
        coalesce(folders.step_name, published.step_name, archived.step_name) as step_name,
        coalesce(published.stated_model_id, folders.stated_model_id) as stated_model_id,
        case folders.source_kind
            when 'hub'
                then
                    'hf:' || folders.repo || '@' || folders.branch
                    || substr(regexp_replace(folders.stated_model_id, '@.*$', ''), length(folders.repo) + 1)
            when 'list' then folders.stated_model_id
            when 'folder' then folders.stated_model_id
        end as place,
        published.checkpoint_source,
        published.driver,
        published.effort,
        published.hour as published_hour,
        published.hour_source as published_hour_source,
        published.hour_upper_bound as published_hour_upper_bound,
        published.driver_tokens_at_hour as published_tokens,
        published.role as published_role,
        published.eos_ok as published_eos_ok,
        published.eos_token_ids as published_eos_token_ids,
        published.checkpoint_key is not null as is_published,
        coalesce(folders.known_hour_in_id, published.hour_in_id) as hour_in_id,
        coalesce(folders.is_spare, false) as is_spare,
        folders.duplicate_of
    from nearest as folders
    full outer join first_listed as published on folders.checkpoint_key = published.checkpoint_key
    full outer join archived on coalesce(folders.checkpoint_key, published.checkpoint_key) = archived.checkpoint_key
)

select * from final
