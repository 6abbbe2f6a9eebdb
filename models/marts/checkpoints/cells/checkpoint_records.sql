-- Grain: one row per checkpoint (checkpoint_key): `cell/family/step`, or the model's name where it is no cell's.
-- Decides which source speaks for a checkpoint: its sweep, else a bare folder, else the Hub, else a published manifest.
with folders as (
    select
        folders.*,
        row_number() over nearest_first as source_rank,
        max(folders.hour_in_id) over all_of_it as known_hour_in_id
    from {{ ref('stg_checkpoints__folders') }} as folders
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

baselines as (
    select distinct model_id from {{ source('declared', 'baselines') }}
),

baseline_names as (
    select distinct regexp_extract(model_id, '([^/]+)$', 1) as model_name from baselines
),

arms as (
    select
        folders.checkpoint_key,
        min(arm_repos.arm) as arm
    from folders
    inner join {{ source('declared', 'arm_repos') }} as arm_repos
        on coalesce(folders.repo, folders.stated_model_id) = arm_repos.repo
    group by folders.checkpoint_key
),

nearest as (
    select * from folders
    where source_rank = 1
),

first_listed as (
    select * from published
    where source_rank = 1
),

paired as (
    select
        coalesce(folders.checkpoint_key, published.checkpoint_key) as checkpoint_key,
        coalesce(folders.source_kind, 'manifest') as source_kind,
        folders.source_name,
        folders.folder_idx,
        coalesce(folders.org, published.org) as org,
        coalesce(folders.cell, published.cell) as cell,
        coalesce(folders.family, published.family) as family,
        coalesce(folders.step_name, published.step_name) as step_name,
        coalesce(published.stated_model_id, folders.stated_model_id) as stated_model_id,
        case folders.source_kind
            when 'sweep' then folders.cell || '/checkpoints/' || folders.family || '/' || folders.step_name
            when 'hub' then 'hf:' || folders.repo || '@' || folders.branch
            when 'folder' then folders.stated_model_id
            else published.checkpoint_source
        end as source,
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
        coalesce(folders.known_hour_in_id, published.hour_in_id) as hour_in_id
    from nearest as folders
    full outer join first_listed as published on folders.checkpoint_key = published.checkpoint_key
),

final as (
    select
        paired.*,
        arms.arm,
        coalesce(
            try_cast(paired.step_name as bigint),
            case
                when paired.source_kind = 'hub'
                    then try_cast(regexp_extract(paired.step_name, '([0-9]+)$', 1) as bigint)
            end
        ) as step,
        coalesce(paired.cell = 'BASELINE', false)
        or baselines.model_id is not null
        or baseline_names.model_name is not null as is_baseline
    from paired
    left join arms on paired.checkpoint_key = arms.checkpoint_key
    left join baselines on paired.stated_model_id = baselines.model_id
    left join baseline_names
        on paired.source_kind = 'folder' and paired.stated_model_id = baseline_names.model_name
)

select * from final
