-- Grain: one row per row of a published manifest, with the parts of its id.
select
    source_name,
    row_number,
    model_id as stated_model_id,
    {{ model_id_part('model_id', 1) }} as org,
    coalesce({{ model_id_part('model_id', 2) }}, cell) as cell,
    {{ model_id_part('model_id', 4) }} as family,
    {{ model_id_part('model_id', 5) }} as step_name,
    driver,
    effort,
    hour,
    hour_source,
    hour_upper_bound,
    driver_tokens_at_hour,
    role,
    eos_ok,
    eos_token_ids,
    checkpoint_source,
    {{ checkpoint_key('null', 'null', 'null', 'model_id') }} as checkpoint_key,
    try_cast({{ model_id_part('model_id', 3) }} as double) as hour_in_id
from {{ source('checkpoints', 'published_checkpoints') }}
