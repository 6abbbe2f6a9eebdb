-- Grain: one row per model_id.
-- Decides each checkpoint's id and role, and lays its hour, cost and packaging side by side.
with records as (
    select * from {{ ref('checkpoint_records') }}
    where not is_baseline
),

runs as (
    select * from {{ ref('stg_checkpoints__cells') }}
    where is_standing
),

identified as (
    select
        records.*,
        dated.hour,
        dated.hour_source as found_hour_source,
        dated.driver_tokens_at_hour,
        records.family || coalesce('/' || records.step_name, '') as path_in_cell,
        case
            when records.org is null or not (records.source_kind in ('sweep', 'archive') or records.is_spare)
                then records.stated_model_id
            else
                records.org || '/' || records.cell || '.h'
                || case
                    when dated.hour is null then 'NA'
                    when dated.hour < 100 then lpad(cast(cast(floor(dated.hour) as bigint) as string), 3, '0')
                    else cast(cast(floor(dated.hour) as bigint) as string)
                end
                || '.' || records.family || coalesce('.' || records.step_name, '')
        end as wanted_id
    from records
    inner join {{ ref('checkpoint_dates') }} as dated on records.checkpoint_key = dated.checkpoint_key
),

final as (
    select
        case
            when row_number() over same_id = 1 then identified.wanted_id
            else identified.wanted_id || '~' || cast(row_number() over same_id as string)
        end as model_id,
        identified.checkpoint_key,
        identified.cell,
        identified.family,
        identified.step,
        identified.step_name,
        identified.arm,
        identified.org,
        identified.source_kind,
        identified.source,
        identified.hour,
        case
            when identified.source_kind = 'manifest' and identified.hour is null and identified.published_hour is null
                then coalesce(identified.published_hour_source, identified.found_hour_source)
            else identified.found_hour_source
        end as hour_source,
        case
            when identified.hour is null
                then coalesce(identified.published_hour_upper_bound, max(identified.hour) over whole_family)
        end as hour_upper_bound,
        identified.driver_tokens_at_hour,
        case
            when runs.submitted = identified.path_in_cell then 'SUBMITTED'
            when runs.fallback = identified.path_in_cell then 'fallback'
            when identified.source_kind in ('sweep', 'archive') or (identified.is_spare and runs.cell is not null)
                then 'intermediate'
            else identified.published_role
        end as role,
        case when packaging.source_name is null then identified.published_eos_token_ids else packaging.eos_token_ids end
            as eos_token_ids,
        case when packaging.source_name is null then identified.published_eos_ok else packaging.eos_ok end as eos_ok,
        case
            when packaging.source_name is not null then packaging.eos_source
            when identified.published_eos_token_ids is not null then 'manifest'
        end as eos_source,
        packaging.eos_ok_transformers,
        packaging.eos_ok_vllm,
        packaging.eos_note,
        serving.is_adapter,
        packaging.base_model_name,
        serving.architecture,
        serving.dtype,
        serving.max_position_count,
        serving.has_vision_tower,
        serving.lacks_preprocessor,
        serving.chat_template_source,
        tensors.equals_baseline,
        tensors.baseline_model_id,
        identified.trainer_step,
        identified.best_metric,
        identified.best_step,
        identified.validation_reward,
        identified.is_spare,
        identified.duplicate_of
    from identified
    left join runs on identified.cell = runs.cell
    left join {{ ref('checkpoint_packaging') }} as packaging
        on identified.source_name = packaging.source_name and identified.folder_idx = packaging.folder_idx
    left join {{ ref('checkpoint_serving') }} as serving
        on identified.source_name = serving.source_name and identified.folder_idx = serving.folder_idx
    left join {{ ref('baseline_matches') }} as tensors on identified.checkpoint_key = tensors.checkpoint_key
    window
        same_id as (partition by identified.wanted_id order by identified.checkpoint_key),
        whole_family as (partition by identified.cell, identified.family)
)

select * from final
