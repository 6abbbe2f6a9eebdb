-- Grain: one row per run_id.
-- Decides which arm a run belongs to; of a run's several logs the latest that states a thing is believed.
with logs as (
    select
        stated.*,
        standing.log_number
    from {{ ref('stg_history__logs') }} as stated
    inner join {{ ref('logs') }} as standing on stated.log_id = standing.log_id
    where stated.run_id is not null and not standing.is_duplicate_producer
),

config as (select * from {{ ref('stg_history__config') }}),

assignments as (select * from {{ source('declared', 'arm_assignments') }}),

experiment_names as (
    select
        log_id,
        nullif(value_text, '') as exp_name
    from config
    where config_key = 'exp_name' and value_text is not null
),

stated as (
    select
        logs.run_id,
        max_by(experiment_names.exp_name, case when experiment_names.exp_name is not null then logs.log_number end)
            as exp_name,
        max_by(logs.arm_in_path, case when logs.arm_in_path is not null then logs.log_number end) as arm_in_path,
        max_by(logs.run_name, case when logs.run_name is not null then logs.log_number end) as run_name,
        max_by(logs.run_group, case when logs.run_group is not null then logs.log_number end) as run_group,
        max_by(logs.project, case when logs.project is not null then logs.log_number end) as project,
        max_by(logs.state, case when logs.state is not null then logs.log_number end) as state,
        min(logs.started_at) as started_at
    from logs
    left join experiment_names on logs.log_id = experiment_names.log_id
    group by logs.run_id
),

final as (
    select
        stated.run_id,
        coalesce(
            assignments.arm,
            stated.exp_name,
            stated.arm_in_path,
            nullif(regexp_extract(stated.run_name, '^(.+)__-?[0-9]+__[0-9]+$', 1), ''),
            stated.run_group,
            stated.run_name,
            stated.run_id
        ) as arm,
        stated.run_name,
        stated.run_group,
        stated.project,
        stated.state,
        stated.started_at
    from stated
    left join assignments on stated.run_id = assignments.run_id
)

select * from final
