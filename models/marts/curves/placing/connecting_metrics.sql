-- Grain: one row per (log_id, metric) that is on a usable row and no axis.
-- Decides which metrics tell that two stretches of logs do the same work: axes and the tracker's own keys do not.
with usable_metrics as (select * from {{ ref('usable_metrics') }}),

arm_keys as (select * from {{ ref('arm_keys') }}),

arm_logs as (
    select distinct
        arm,
        log_id
    from usable_metrics
),

declared_axes as (
    select distinct
        arm_logs.arm,
        axes.step_metric
    from {{ ref('stg_history__axes') }} as axes
    inner join arm_logs on axes.log_id = arm_logs.log_id
),

final as (
    select
        usable_metrics.arm,
        usable_metrics.log_id,
        usable_metrics.metric
    from usable_metrics
    inner join arm_keys on usable_metrics.arm = arm_keys.arm
    left join declared_axes
        on usable_metrics.arm = declared_axes.arm and usable_metrics.metric = declared_axes.step_metric
    where
        usable_metrics.is_connecting_name
        and declared_axes.step_metric is null
        and usable_metrics.metric is distinct from arm_keys.position_key
)

select * from final
