-- Protects: metrics. None is lost because its rows lack the arm's key.
-- Fails when: a metric of a kept row that does not state its position has no row in `arm_metrics` at its step.
-- Not a check of: which of several values stands.
with logged as (
    select distinct
        run_rows.arm,
        run_rows.training_step,
        history.metric
    from {{ ref('run_rows') }} as run_rows
    inner join {{ ref('stg_history__values') }} as history
        on run_rows.log_id = history.log_id and run_rows.row_idx = history.row_idx
    where
        run_rows.drop_reason is null
        and run_rows.position_source <> 'logged'
        and substr(history.metric, 1, 1) <> '_'
)

select
    logged.arm,
    logged.training_step,
    logged.metric
from logged
left join {{ ref('arm_metrics') }} as arm_metrics
    on
        logged.arm = arm_metrics.arm
        and logged.training_step = arm_metrics.training_step
        and logged.metric = arm_metrics.metric
where arm_metrics.metric is null
