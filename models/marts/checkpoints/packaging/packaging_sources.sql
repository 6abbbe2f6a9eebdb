-- Grain: one row per checkpoint folder (source_name, folder_idx).
-- Decides which folder's files speak for a checkpoint: its own, or for an adapter without a config those of its base.
with places as (select * from {{ ref('checkpoint_places') }}),

configs as (select * from {{ ref('stg_checkpoints__configs') }}),

contents as (
    select
        source_name,
        folder_idx,
        max(base_model_name) as base_model_name,
        max(adapter_type) as adapter_type,
        max(case when file_name = 'adapter_config.json' then 1 else 0 end) = 1 as is_adapter,
        max(case when file_name in ('config.json', 'generation_config.json') then 1 else 0 end) = 1 as has_model_files,
        max(case when file_name = 'tokenizer_config.json' then 1 else 0 end) = 1 as has_tokenizer
    from configs
    group by source_name, folder_idx
),

-- By its whole name, else by what follows the last slash, which a local copy keeps.
bases as (
    select
        adapters.source_name,
        adapters.folder_idx,
        places.source_name as base_source_name,
        places.folder_idx as base_folder_idx,
        case when places.stated_model_id = adapters.base_model_name then 1 else 2 end as match_rank
    from contents as adapters
    inner join places
        on {{ name_after_slash('adapters.base_model_name') }} = {{ name_after_slash('places.stated_model_id') }}
    inner join contents as theirs
        on places.source_name = theirs.source_name and places.folder_idx = theirs.folder_idx
    where adapters.is_adapter and theirs.has_model_files and not theirs.is_adapter
),

counted as (
    select
        *,
        count(*) over equals as namesake_count,
        row_number() over best_first as best_rank
    from bases
    window
        equals as (partition by source_name, folder_idx, match_rank),
        best_first as (
            partition by source_name, folder_idx order by match_rank, base_source_name, base_folder_idx
        )
),

final as (
    select
        places.source_name,
        places.folder_idx,
        places.checkpoint_key,
        coalesce(contents.is_adapter, false) as is_adapter,
        contents.base_model_name,
        contents.adapter_type,
        case
            when not coalesce(contents.is_adapter, false) or contents.has_model_files then 'own'
            when counted.source_name is null then 'missing'
            when counted.namesake_count > 1 then 'ambiguous'
            else 'base'
        end as spoken_by,
        coalesce(counted.namesake_count, 0) as namesake_count,
        counted.base_source_name,
        counted.base_folder_idx,
        coalesce(contents.has_tokenizer, false) as has_tokenizer
    from places
    left join contents on places.source_name = contents.source_name and places.folder_idx = contents.folder_idx
    left join counted
        on places.source_name = counted.source_name and places.folder_idx = counted.folder_idx and counted.best_rank = 1
)

select
    source_name,
    folder_idx,
    checkpoint_key,
    is_adapter,
    base_model_name,
    adapter_type,
    spoken_by,
    namesake_count,
    case spoken_by when 'own' then source_name when 'base' then base_source_name end as model_source_name,
    case spoken_by when 'own' then folder_idx when 'base' then base_folder_idx end as model_folder_idx,
    case when has_tokenizer or spoken_by <> 'base' then source_name else base_source_name end as tokenizer_source_name,
    case when has_tokenizer or spoken_by <> 'base' then folder_idx else base_folder_idx end as tokenizer_folder_idx
from final
