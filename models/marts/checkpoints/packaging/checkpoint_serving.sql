-- Grain: one row per checkpoint folder (source_name, folder_idx).
-- What a server must know: architecture, vision tower, chat template, dtype, positions; an adapter's are its base's.
with spoken as (select * from {{ ref('packaging_sources') }}),

configs as (select * from {{ ref('stg_checkpoints__configs') }}),

files as (select * from {{ ref('stg_checkpoints__files') }}),

listed as (
    select
        source_name,
        folder_idx,
        max(case when last_name in ('preprocessor_config.json', 'processor_config.json') then 1 else 0 end) = 1
            as has_preprocessor,
        max(case when last_name = 'chat_template.jinja' then 1 else 0 end) = 1 as has_template_file,
        max(case when last_name = 'chat_template.json' then 1 else 0 end) = 1 as has_template_json,
        max(case when last_name like '%.safetensors' then 1 else 0 end) = 1 as has_safetensors,
        max(case when last_name like '%.gguf' then 1 else 0 end) = 1 as has_gguf,
        max(
            case when last_name like 'pytorch_model%.bin' or last_name like 'adapter_model%.bin' then 1 else 0 end
        ) = 1 as has_bin,
        max(
            case
                when
                    last_name like '%.distcp' or last_name like 'model_world_size_%'
                    or last_name like '%_model_states.pt'
                    then 1
                else 0
            end
        ) = 1 as has_shards
    from files
    group by source_name, folder_idx
),

-- The names by which public models of text and images call what sees.
towers as (
    select
        source_name,
        folder_idx,
        max(
            case
                when
                    concat('.', tensor_name) like '%.visual.%' or tensor_name like '%vision_tower%'
                    or tensor_name like '%vision_model%' or tensor_name like '%vision_encoder%'
                    then 1
                else 0
            end
        ) = 1 as has_vision_tensors
    from {{ ref('stg_checkpoints__tensors') }}
    group by source_name, folder_idx
),

final as (
    select
        spoken.source_name,
        spoken.folder_idx,
        spoken.is_adapter,
        spoken.adapter_type,
        model.architecture,
        model.dtype,
        model.max_position_count,
        model.has_vision_config as is_vision_model,
        coalesce(towers.has_vision_tensors, case when not model.has_vision_config then false end) as has_vision_tower,
        model.has_vision_config and not listed.has_preprocessor as lacks_preprocessor,
        case
            when theirs.has_template_file then 'chat_template.jinja'
            when theirs.has_template_json then 'chat_template.json'
            when tokenizer.has_chat_template then 'tokenizer_config.json'
            when not tokenizer.has_chat_template then 'none'
        end as chat_template_source,
        case
            when own.has_safetensors then 'safetensors'
            when own.has_bin then 'bin'
            when own.has_gguf then 'gguf'
            when own.has_shards then 'shards'
        end as weights_format
    from spoken
    left join configs as model
        on
            spoken.model_source_name = model.source_name
            and spoken.model_folder_idx = model.folder_idx
            and model.file_name = 'config.json'
            and model.is_readable
    left join configs as tokenizer
        on
            spoken.tokenizer_source_name = tokenizer.source_name
            and spoken.tokenizer_folder_idx = tokenizer.folder_idx
            and tokenizer.file_name = 'tokenizer_config.json'
            and tokenizer.is_readable
    left join listed
        on spoken.model_source_name = listed.source_name and spoken.model_folder_idx = listed.folder_idx
    left join listed as theirs
        on spoken.tokenizer_source_name = theirs.source_name and spoken.tokenizer_folder_idx = theirs.folder_idx
    left join listed as own on spoken.source_name = own.source_name and spoken.folder_idx = own.folder_idx
    left join towers
        on spoken.model_source_name = towers.source_name and spoken.model_folder_idx = towers.folder_idx
)

select * from final
