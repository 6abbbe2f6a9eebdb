-- Grain: one row per checkpoint folder (source_name, folder_idx).
-- Lays side by side what the files that speak for a checkpoint say of its end-of-sequence ids, and which token ends a
-- turn of its model.
with spoken as (select * from {{ ref('packaging_sources') }}),

configs as (select * from {{ ref('stg_checkpoints__configs') }}),

tokenizers as (select * from {{ source('declared', 'tokenizers') }}),

known as (
    {{ known_turn_ends() }}
),

side_by_side as (
    select
        spoken.*,
        generation.is_readable as has_good_generation,
        generation.eos_token_ids as generation_ids,
        model.is_readable as has_good_config,
        coalesce(model.model_name, spoken.base_model_name) as model_name,
        model.model_type,
        model.eos_token_ids as config_ids,
        model.text_eos_token_ids as text_config_ids,
        tokenizer.eos_token,
        tokenizer.eos_token_ids as eos_token_ids_of_tokenizer
    from spoken
    left join configs as generation
        on
            spoken.model_source_name = generation.source_name
            and spoken.model_folder_idx = generation.folder_idx
            and generation.file_name = 'generation_config.json'
    left join configs as model
        on
            spoken.model_source_name = model.source_name
            and spoken.model_folder_idx = model.folder_idx
            and model.file_name = 'config.json'
    left join configs as tokenizer
        on
            spoken.tokenizer_source_name = tokenizer.source_name
            and spoken.tokenizer_folder_idx = tokenizer.folder_idx
            and tokenizer.file_name = 'tokenizer_config.json'
            and tokenizer.is_readable
),

names as (
    select model_name as model from side_by_side
    union distinct
    select model_type as model from side_by_side
),

matched as (
    select
        names.model,
        tokenizers.end_of_turn_id,
        coalesce(tokenizers.end_of_turn_token, known.end_of_turn_token) as end_of_turn_token,
        row_number() over longest_first as match_rank
    from names
    inner join tokenizers on {{ matches_glob('names.model', 'tokenizers.model_pattern') }}
    left join known on tokenizers.end_of_turn_id = known.end_of_turn_id
    where tokenizers.end_of_turn_id is not null
    window longest_first as (
        partition by names.model order by length(tokenizers.model_pattern) desc, tokenizers.model_pattern
    )
),

final as (
    select
        side_by_side.source_name,
        side_by_side.folder_idx,
        side_by_side.checkpoint_key,
        side_by_side.is_adapter,
        side_by_side.base_model_name,
        side_by_side.spoken_by,
        side_by_side.namesake_count,
        side_by_side.model_name,
        side_by_side.model_type,
        side_by_side.has_good_generation,
        side_by_side.generation_ids,
        side_by_side.has_good_config,
        side_by_side.config_ids,
        side_by_side.text_config_ids,
        side_by_side.eos_token,
        side_by_side.eos_token_ids_of_tokenizer,
        coalesce(by_name.end_of_turn_id, by_type.end_of_turn_id) as end_of_turn_id,
        case when by_name.model is null then by_type.end_of_turn_token else by_name.end_of_turn_token end
            as end_of_turn_token
    from side_by_side
    left join matched as by_name on side_by_side.model_name = by_name.model and by_name.match_rank = 1
    left join matched as by_type on side_by_side.model_type = by_type.model and by_type.match_rank = 1
)

select * from final
