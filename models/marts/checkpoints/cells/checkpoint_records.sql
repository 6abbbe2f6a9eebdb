-- Grain: one row per checkpoint (checkpoint_key).
-- Decides what a checkpoint is: its organisation, its step as a number, its arm, or a baseline instead.
with paired as (select * from {{ ref('paired_checkpoints') }}),

baselines as (
    select distinct model_id from {{ source('declared', 'baselines') }}
),

baseline_names as (
    select distinct regexp_extract(model_id, '([^/]+)$', 1) as model_name from baselines
),

arms as (
    select
        folders.checkpoint_key,
        min(arm_repos.arm) as arm
    from {{ ref('checkpoint_places') }} as folders
    inner join {{ source('declared', 'arm_repos') }} as arm_repos
        on {{ is_arm_repo_of('folders', 'arm_repos') }}
    group by folders.checkpoint_key
),

runs as (
    select * from {{ ref('stg_checkpoints__cells') }}
    where is_standing
),

final as (
    select
        paired.checkpoint_key,
        paired.source_kind,
        paired.source_name,
        paired.folder_idx,
        case
            when paired.source_kind = 'archive' or paired.is_spare then coalesce(runs.org, paired.stated_org)
            else paired.stated_org
        end as org,
        paired.cell,
        paired.family,
        paired.step_name,
        paired.stated_model_id,
        coalesce(
            paired.place,
            case
                when paired.source_kind in ('sweep', 'archive')
                    then
                        paired.cell || '/checkpoints/' || paired.family || coalesce('/' || paired.step_name, '')
                else paired.checkpoint_source
            end
        ) as source,
        paired.driver,
        paired.effort,
        paired.published_hour,
        paired.published_hour_source,
        paired.published_hour_upper_bound,
        paired.published_tokens,
        paired.published_role,
        paired.published_eos_ok,
        paired.published_eos_token_ids,
        paired.is_published,
        paired.hour_in_id,
        paired.is_spare,
        paired.duplicate_of,
        arms.arm,
        coalesce(
            {{ step_number('paired.step_name') }},
            case
                when paired.source_kind = 'hub'
                    then try_cast(nullif(regexp_extract(paired.step_name, '([0-9]+)$', 1), '') as bigint)
            end,
            case when paired.step_name is null then states.global_step end
        ) as step,
        states.global_step as trainer_step,
        states.best_metric,
        states.best_step,
        states.validation_reward,
        coalesce(paired.cell = 'BASELINE', false)
        or baselines.model_id is not null
        or baseline_names.model_name is not null as is_baseline
    from paired
    left join arms on paired.checkpoint_key = arms.checkpoint_key
    left join runs on paired.cell = runs.cell
    left join {{ ref('stg_checkpoints__states') }} as states
        on paired.source_name = states.source_name and paired.folder_idx = states.folder_idx
    left join baselines on paired.stated_model_id = baselines.model_id
    left join baseline_names
        on
            paired.source_kind = 'folder'
            and paired.cell is null
            and {{ name_after_slash('paired.stated_model_id') }} = baseline_names.model_name
)

select * from final
