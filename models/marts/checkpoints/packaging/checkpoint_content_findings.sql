-- Grain: one row per (kind, subject).
-- Decides what about the weights, the names and the steps of checkpoints a person should look at.
with checkpoints as (select * from {{ ref('checkpoints') }}),

tensors as (select * from {{ ref('baseline_matches') }}),

records as (select * from {{ ref('checkpoint_records') }}),

broken as (
    select
        records.checkpoint_key,
        count(*) as file_count,
        min(files.file_name || ': ' || files.problem) as first_problem
    from {{ ref('stg_checkpoints__files') }} as files
    inner join records on files.source_name = records.source_name and files.folder_idx = records.folder_idx
    where files.problem is not null
    group by records.checkpoint_key
)

select
    'submission_is_baseline' as kind,
    checkpoints.model_id as subject,
    'warn' as severity,
    'all of its ' || cast(tensors.tensor_count as string) || ' tensors equal those of ' || tensors.baseline_model_id
    || case
        when tensors.sampled_count > 0
            then ' (' || cast(tensors.sampled_count as string) || ' large ones were compared by samples)'
        else ''
    end as detail,
    {{ findings_page('submission_is_baseline') }} as remedy
from checkpoints
inner join tensors on checkpoints.checkpoint_key = tensors.checkpoint_key
where checkpoints.role = 'SUBMITTED' and tensors.equals_baseline
union all
select
    'weights_unreadable' as kind,
    checkpoints.model_id as subject,
    'warn' as severity,
    cast(broken.file_count as string) || ' weight files can''t be read, first ' || broken.first_problem as detail,
    {{ findings_page('weights_unreadable') }} as remedy
from broken
inner join checkpoints on broken.checkpoint_key = checkpoints.checkpoint_key
union all
select
    'model_id_in_several_sources' as kind,
    checkpoints.duplicate_of as subject,
    'warn' as severity,
    cast(count(*) + 1 as string) || ' checkpoints state this id; all are kept, the others under '
    || {{ joined_text('checkpoints.model_id', ', ', 'checkpoints.model_id') }}
    || '. Scores of the id count for the first' as detail,
    {{ findings_page('model_id_in_several_sources') }} as remedy
from checkpoints
where checkpoints.duplicate_of is not null
group by checkpoints.duplicate_of
union all
select
    'step_differs_from_trainer' as kind,
    model_id as subject,
    'warn' as severity,
    'its name says step ' || cast(step as string) || ', its trainer''s own file ' || cast(trainer_step as string)
        as detail,
    {{ findings_page('step_differs_from_trainer') }} as remedy
from checkpoints
where step <> trainer_step
union all
select
    'spare_repo_without_data' as kind,
    spares.repo as subject,
    'warn' as severity,
    'declared/spare_repos.csv names it, but no checkpoint of it has landed' as detail,
    case
        when min(spares.repo) like '%/%' and min(spares.repo) not like '%*%'
            then 'seamline ingest checkpoints hf:' || min(spares.repo)
        else {{ findings_page('spare_repo_without_data') }}
    end as remedy
from {{ source('declared', 'spare_repos') }} as spares
left join {{ ref('checkpoint_places') }} as places
    on places.source_kind <> 'sweep' and {{ is_spare_of('places', 'spares') }}
group by spares.repo
having count(places.source_name) = 0
