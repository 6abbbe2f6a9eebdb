-- Grain: one row per checkpoint folder, with the parts of its name. A bare folder may lie deep: the end of its path may
-- be a published id.
with folders as (
    select
        *,
        case when source_kind = 'folder' then regexp_extract(model_id, '([^/]+/)?[^/]+$', 0) else model_id end
            as published_id
    from {{ source('checkpoints', 'checkpoint_folders') }}
)

select
    source_name,
    folder_idx,
    source_kind,
    coalesce(org, {{ model_id_part('published_id', 1) }}) as org,
    coalesce(cell, {{ model_id_part('published_id', 2) }}) as cell,
    coalesce({{ model_id_part('published_id', 4) }}, family) as family,
    coalesce(
        {{ model_id_part('published_id', 5) }}, step_name, case when branch <> 'main' then branch end
    ) as step_name,
    model_id as stated_model_id,
    repo,
    branch,
    folder_path,
    coalesce(
        {{ checkpoint_key('cell', 'family', 'step_name', 'null') }},
        {{ checkpoint_key(
            model_id_part('published_id', 2), model_id_part('published_id', 4), model_id_part('published_id', 5), 'null'
        ) }}
    ) as named_key,
    try_cast({{ model_id_part('published_id', 3) }} as double) as hour_in_id
from folders
