-- Grain: one row per checkpoint folder (source_name, folder_idx).
-- Decides whether generation stops at the end of a turn. A broken file ends the search: nothing is read past it.
with folders as (select * from {{ ref('stg_checkpoints__folders') }}),

configs as (select * from {{ ref('stg_checkpoints__configs') }}),

tokenizers as (select * from {{ source('declared', 'tokenizers') }}),

side_by_side as (
    select
        folders.source_name,
        folders.folder_idx,
        folders.checkpoint_key,
        generation.is_readable as has_good_generation,
        generation.eos_token_ids as generation_ids,
        model.is_readable as has_good_config,
        model.model_name,
        model.model_type,
        model.eos_token_ids as config_ids,
        model.text_eos_token_ids as text_config_ids
    from folders
    left join configs as generation
        on
            folders.source_name = generation.source_name
            and folders.folder_idx = generation.folder_idx
            and generation.file_name = 'generation_config.json'
    left join configs as model
        on
            folders.source_name = model.source_name
            and folders.folder_idx = model.folder_idx
            and model.file_name = 'config.json'
),

names as (
    select model_name as model from configs
    union distinct
    select model_type as model from configs
),

matched as (
    select
        names.model,
        tokenizers.end_of_turn_id,
        row_number() over longest_first as match_rank
    from names
    inner join tokenizers on {{ matches_glob('names.model', 'tokenizers.model_pattern') }}
    where tokenizers.end_of_turn_id is not null
    window longest_first as (
        partition by names.model order by length(tokenizers.model_pattern) desc, tokenizers.model_pattern
    )
),

sourced as (
    select
        side_by_side.*,
        coalesce(by_name.end_of_turn_id, by_type.end_of_turn_id) as end_of_turn_id,
        case
            when not side_by_side.has_good_generation then null
            when side_by_side.generation_ids is not null then 'generation_config'
            when not side_by_side.has_good_config then null
            when side_by_side.config_ids is not null then 'config'
            when side_by_side.text_config_ids is not null then 'text_config'
        end as eos_source
    from side_by_side
    left join matched as by_name on side_by_side.model_name = by_name.model and by_name.match_rank = 1
    left join matched as by_type on side_by_side.model_type = by_type.model and by_type.match_rank = 1
),

stated as (
    select
        *,
        case eos_source
            when 'generation_config' then generation_ids
            when 'config' then config_ids
            when 'text_config' then text_config_ids
        end as eos_token_ids
    from sourced
),

final as (
    select
        source_name,
        folder_idx,
        checkpoint_key,
        model_name,
        model_type,
        coalesce(has_good_config, true) and coalesce(has_good_generation, true) as is_readable,
        has_good_config is not null as has_config,
        end_of_turn_id,
        eos_source,
        eos_token_ids,
        case
            when eos_token_ids is null or end_of_turn_id is null then null
            else array_contains(eos_token_ids, end_of_turn_id)
        end as eos_ok
    from stated
)

select * from final
