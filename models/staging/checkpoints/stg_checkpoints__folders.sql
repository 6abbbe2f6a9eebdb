-- Grain: one row per checkpoint folder, with the parts of its name.
select
    source_name,
    folder_idx,
    source_kind,
    coalesce(org, {{ model_id_part('model_id', 1) }}) as org,
    coalesce(cell, {{ model_id_part('model_id', 2) }}) as cell,
    coalesce(family, {{ model_id_part('model_id', 4) }}) as family,
    coalesce(step_name, {{ model_id_part('model_id', 5) }}, case when branch <> 'main' then branch end) as step_name,
    model_id as stated_model_id,
    repo,
    branch,
    {{ checkpoint_key('cell', 'family', 'step_name', 'model_id') }} as checkpoint_key,
    try_cast({{ model_id_part('model_id', 3) }} as double) as hour_in_id
from {{ source('checkpoints', 'checkpoint_folders') }}
