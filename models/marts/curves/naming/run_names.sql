-- Grain: one row per run_id.
-- Decides the name that a run's arm has before runs of one name are told apart, and which evidence gives it.
with logs as (
    select
        stated.*,
        standing.log_number
    from {{ ref('stg_history__logs') }} as stated
    inner join {{ ref('logs') }} as standing on stated.log_id = standing.log_id
    where stated.run_id is not null and not standing.is_duplicate_producer
),

stated as (
    select
        run_id,
        {%- for fact in ['arm_in_path', 'run_name', 'run_group', 'project', 'state'] %}
        max_by({{ fact }}, case when trim({{ fact }}) <> '' then log_number end) as {{ fact }},
        {%- endfor %}
        min(started_at) as started_at
    from logs
    group by run_id
),

experiments as (
    select
        run_id,
        min_by(value, case when config_key = 'exp_name' then '' else config_key end) as exp_name
    from {{ ref('run_config') }}
    where last_name = 'exp_name'
    group by run_id
),

launches as (
    select
        stated.*,
        experiments.exp_name,
        nullif(regexp_extract(stated.run_name, '__([0-9]+)__[0-9]{9,10}$', 1), '') as seed_in_name,
        case
            {%- for pattern in var('launch_tail_patterns') %}
            when regexp_replace(stated.run_name, '{{ pattern }}', '') <> stated.run_name
                then regexp_replace(stated.run_name, '{{ pattern }}', '')
            {%- endfor %}
        end as launch_name
    from stated
    left join experiments on stated.run_id = experiments.run_id
),

assignments as (
    select
        *,
        coalesce(run_id, run_pattern, name_pattern, group_pattern) as pattern
    from {{ source('declared', 'arm_assignments') }}
),

matched as (
    select
        launches.run_id,
        assignments.pattern,
        assignments.arm,
        1 as kind
    from launches
    inner join assignments on launches.run_id = assignments.run_id
    {%- set patterns = [('run_id', 'run_pattern'), ('run_name', 'name_pattern'), ('run_group', 'group_pattern')] %}
    {%- for stated, pattern in patterns %}
    union all
    select
        launches.run_id,
        assignments.pattern,
        assignments.arm,
        {{ loop.index + 1 }}
    from launches
    inner join assignments on {{ matches_glob('launches.' ~ stated, 'assignments.' ~ pattern) }}
    {%- endfor %}
),

assigned as (
    select
        *,
        row_number() over (
            partition by run_id
            order by kind asc, length(replace(replace(pattern, '*', ''), '?', '')) desc, pattern asc, arm asc
        ) as preference
    from matched
),

final as (
    select
        launches.run_id,
        coalesce(
            {{ assigned_arm(
                'assigned.arm',
                'launches.run_id',
                'coalesce(launches.run_name, launches.run_id)',
                'coalesce(launches.run_group, launches.run_id)'
            ) }},
            launches.arm_in_path,
            case when trim(launches.launch_name) <> '' then launches.launch_name end,
            launches.exp_name,
            launches.run_name,
            launches.run_id
        ) as name,
        case
            when assigned.arm is not null then 'declared'
            when launches.arm_in_path is not null then 'path'
            when trim(launches.launch_name) <> '' then 'launch_name'
            when launches.exp_name is not null then 'exp_name'
            when launches.run_name is not null then 'run_name'
            else 'run_id'
        end as evidence,
        launches.run_name,
        launches.run_group,
        launches.project,
        launches.state,
        launches.started_at,
        launches.seed_in_name
    from launches
    left join assigned on launches.run_id = assigned.run_id and assigned.preference = 1
)

select * from final
