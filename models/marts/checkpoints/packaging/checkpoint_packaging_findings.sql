-- Grain: one row per (kind, subject).
-- Decides what about packaging and saved models of arms a person should look at.
with packaging as (
    select
        packaging.*,
        checkpoints.model_id,
        checkpoints.cell,
        checkpoints.source_kind
    from {{ ref('checkpoint_packaging') }} as packaging
    inner join {{ ref('checkpoint_records') }} as records
        on packaging.source_name = records.source_name and packaging.folder_idx = records.folder_idx
    inner join {{ ref('checkpoints') }} as checkpoints on records.checkpoint_key = checkpoints.checkpoint_key
)

select
    'broken_config' as kind,
    model_id as subject,
    'warn' as severity,
    'a metadata file can''t be read (quarantined_records says where): its packaging is unknown' as detail,
    {{ findings_page('broken_config') }} as remedy
from packaging
where not is_readable
union all
select
    'checkpoint_without_config' as kind,
    model_id as subject,
    'info' as severity,
    'no config.json: the model can''t be told, so its packaging is unknown' as detail,
    {{ findings_page('checkpoint_without_config') }} as remedy
from packaging
where not has_config and not is_adapter and source_kind <> 'list'
union all
select
    'adapter_without_base' as kind,
    model_id as subject,
    'info' as severity,
    eos_note as detail,
    {{ findings_page('adapter_without_base') }} as remedy
from packaging
where is_adapter and eos_note like 'an adapter: %'
union all
select
    'eos_depends_on_server' as kind,
    coalesce(cell, model_id) as subject,
    'warn' as severity,
    cast(count(*) as string) || ' checkpoints stop at the end of a turn on vLLM and not with transformers: only scores'
    || ' of the latter are floors' as detail,
    {{ findings_page('eos_depends_on_server') }} as remedy
from packaging
where not eos_ok_transformers and eos_ok_vllm
group by coalesce(cell, model_id)
union all
select
    'tokenizer_not_declared' as kind,
    coalesce(model_type, model_name) as subject,
    'warn' as severity,
    cast(count(*) as string) || ' checkpoints state an end-of-sequence id, but declared/tokenizers.csv has no'
    || ' end-of-turn id for their model' as detail,
    {{ findings_page('tokenizer_not_declared') }} as remedy
from packaging
where end_of_turn_id is null and eos_token_ids is not null and coalesce(model_type, model_name) is not null
group by coalesce(model_type, model_name)
union all
select
    'step_missing_on_curve' as kind,
    arm || ' step ' || cast(training_step as string) as subject,
    'info' as severity,
    'a checkpoint was saved there, but the arm''s curve has no such step' as detail,
    {{ findings_page('step_missing_on_curve') }} as remedy
from {{ ref('arm_checkpoints') }}
where training_step is not null and not is_on_curve
group by arm, training_step
union all
select
    'arm_repo_without_data' as kind,
    arm_repos.repo as subject,
    'warn' as severity,
    'declared/arm_repos.csv names it, but no checkpoint of it has landed' as detail,
    case
        when arm_repos.repo like '%/%' then 'seamline ingest checkpoints hf:' || arm_repos.repo
        else {{ findings_page('arm_repo_without_data') }}
    end as remedy
from {{ source('declared', 'arm_repos') }} as arm_repos
left join {{ ref('checkpoint_places') }} as folders on {{ is_arm_repo_of('folders', 'arm_repos') }}
where folders.source_name is null
group by arm_repos.repo
