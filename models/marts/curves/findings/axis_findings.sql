-- Grain: one row per (kind, subject).
-- Decides where another x-axis than the one taken would tell more.
with declared as (select * from {{ source('declared', 'arms') }}),

arm_keys as (select * from {{ ref('arm_keys') }}),

axis_restarts as (
    select
        arm,
        min(metric) as metric
    from {{ ref('axis_restarts') }}
    group by arm
),

trainer_steps as (
    select
        arm_metrics.arm,
        arm_metrics.metric,
        arm_metrics.training_step,
        arm_metrics.value,
        lag(arm_metrics.value) over along_arm as previous_value
    from {{ ref('arm_metrics') }} as arm_metrics
    inner join arm_keys on arm_metrics.arm = arm_keys.arm and arm_metrics.metric = arm_keys.trainer_step_key
    where {{ finite_or_null('arm_metrics.value') }} is not null
    window along_arm as (partition by arm_metrics.arm order by arm_metrics.training_step)
),

falls as (
    select
        arm,
        metric,
        min(training_step) as training_step,
        min_by(value, training_step) as value,
        min_by(previous_value, training_step) as previous_value
    from trainer_steps
    where value < previous_value
    group by arm, metric
),

differences as (
    select
        arm,
        metric,
        min(training_step) as training_step,
        min_by(value, training_step) as value
    from trainer_steps
    where value <> training_step
    group by arm, metric
),

arm_projects as (
    select distinct
        coalesce(run_arms.project, 'no project') as project,
        arms.arm,
        arms.logging_interval
    from {{ ref('arms') }} as arms
    inner join {{ ref('run_arms') }} as run_arms on arms.arm = run_arms.arm
    where arms.logging_interval is not null
),

final as (
    select
        'axis_restarts' as kind,
        axis_restarts.arm as subject,
        'warn' as severity,
        'its x-axis is the tracker''s own step, which begins anew in a later log while ' || axis_restarts.metric
        || ' goes on: the logs may continue each other' as detail,
        {{ arms_line('axis_restarts.arm', 'declared', {'position_key': 'axis_restarts.metric'}) }} as remedy
    from axis_restarts
    left join declared on axis_restarts.arm = declared.arm
    union all
    select
        'counter_falls',
        falls.arm,
        'warn',
        falls.metric || ' falls from ' || falls.previous_value || ' to ' || falls.value || ' at training_step '
        || falls.training_step || ': along its x-axis, ' || arm_keys.position_key || ', the trainer went back',
        {{ arms_line('falls.arm', 'declared', {'position_key': 'falls.metric'}) }}
    from falls
    inner join arm_keys on falls.arm = arm_keys.arm
    left join declared on falls.arm = declared.arm
    union all
    select
        'trainer_step_differs',
        arm,
        'info',
        'training_step ' || training_step || ' is ' || metric || ' ' || value,
        {{ findings_page('trainer_step_differs') }}
    from differences
    union all
    select
        'logging_intervals_differ',
        project,
        'info',
        'its arms log every ' || min(logging_interval) || ' to every ' || max(logging_interval)
        || ' steps of the trainer: training_step counts logged steps, so compare them by position',
        {{ findings_page('logging_intervals_differ') }}
    from arm_projects
    group by project
    having min(logging_interval) < max(logging_interval)
)

select * from final
