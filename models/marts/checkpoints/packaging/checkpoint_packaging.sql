-- Grain: one row per checkpoint folder (source_name, folder_idx).
-- Decides which servers stop at the end of a turn. transformers stops at the ids of generation_config.json; without
-- that file at those of config.json, else of its text_config. vLLM stops at these and at the tokenizer's eos_token. A
-- file that is broken, and a config.json that is silent (its class has defaults), leave it unknown.
with files as (select * from {{ ref('packaging_files') }}),

sourced as (
    select
        *,
        case
            when has_good_generation then 'generation_config'
            when not has_good_generation or not has_good_config then null
            when config_ids is not null then 'config'
            when text_config_ids is not null then 'text_config'
        end as asked
    from files
),

stated as (
    select
        *,
        case asked
            when 'generation_config' then generation_ids
            when 'config' then config_ids
            when 'text_config' then text_config_ids
        end as eos_token_ids,
        case
            when eos_token_ids_of_tokenizer is not null
                then array_contains(eos_token_ids_of_tokenizer, end_of_turn_id)
            else eos_token = end_of_turn_token
        end as tokenizer_ends_turn
    from sourced
),

judged as (
    select
        *,
        case
            when end_of_turn_id is null or asked is null then null
            else coalesce(array_contains(eos_token_ids, end_of_turn_id), false)
        end as eos_ok_transformers
    from stated
),

served as (
    select
        *,
        case
            when end_of_turn_id is null then null
            when eos_ok_transformers or tokenizer_ends_turn then true
            when not eos_ok_transformers and not tokenizer_ends_turn then false
        end as eos_ok_vllm
    from judged
),

final as (
    select
        source_name,
        folder_idx,
        checkpoint_key,
        model_name,
        model_type,
        base_model_name,
        is_adapter,
        coalesce(has_good_config, true) and coalesce(has_good_generation, true) as is_readable,
        has_good_config is not null as has_config,
        end_of_turn_id,
        eos_token,
        case when eos_token_ids is not null then asked end as eos_source,
        eos_token_ids,
        eos_ok_transformers,
        eos_ok_vllm,
        case
            when eos_ok_transformers and eos_ok_vllm then true
            when not eos_ok_transformers or not eos_ok_vllm then false
        end as eos_ok,
        case
            when eos_ok_transformers and eos_ok_vllm then null
            when spoken_by = 'missing'
                then
                    'an adapter: ' || coalesce('its base ' || base_model_name, 'its base')
                    || ' decides, and has not landed'
            when spoken_by = 'ambiguous'
                then
                    'an adapter: ' || cast(namesake_count as string) || ' landed models are called '
                    || {{ name_after_slash('base_model_name') }} || ', and its base decides'
            when not coalesce(has_good_generation, true) then 'generation_config.json can''t be read'
            when asked is null and not coalesce(has_good_config, true) then 'config.json can''t be read'
            when end_of_turn_id is null
                then
                    'declared/tokenizers.csv has no end-of-turn id for '
                    || coalesce(model_name, model_type, 'its model')
            when asked is null then 'no file names an end-of-sequence id'
            else
                case
                    when eos_token_ids is null
                        then
                            'transformers stops nowhere: generation_config.json names no eos_token_id, and config.json'
                            || ' is not asked'
                    else 'transformers does not stop: ' || asked || ' lacks ' || cast(end_of_turn_id as string)
                end
                || case
                    when eos_ok_vllm then '; vLLM does, at the tokenizer''s eos_token ' || coalesce(eos_token, '')
                    when not eos_ok_vllm
                        then '; neither does vLLM: the tokenizer''s eos_token is ' || coalesce(eos_token, '')
                    when eos_token is null
                        then '; whether vLLM does is unknown: no tokenizer_config.json names an eos_token'
                    else '; whether vLLM does is unknown: the id of the tokenizer''s eos_token ' || eos_token || ' is'
                end
        end as eos_note
    from served
)

select * from final
