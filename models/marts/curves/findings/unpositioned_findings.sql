-- Grain: one row per (kind, subject).
-- Decides of which arms rows without any axis, and metrics with them, are on no curve.
with unpositioned_rows as (
    select
        arm,
        log_id,
        row_idx
    from {{ ref('run_rows') }}
    where drop_reason = 'unpositioned'
),

unpositioned_metrics as (
    select
        unpositioned_rows.arm,
        history.metric,
        count(*) as value_count
    from {{ ref('stg_history__values') }} as history
    inner join unpositioned_rows
        on history.log_id = unpositioned_rows.log_id and history.row_idx = unpositioned_rows.row_idx
    where substr(history.metric, 1, 1) <> '_'
    group by unpositioned_rows.arm, history.metric
),

curve_metrics as (
    select distinct
        arm,
        metric
    from {{ ref('arm_metrics') }}
    where arm in (select unpositioned_rows.arm from unpositioned_rows)
),

lost_metrics as (
    select
        unpositioned_metrics.arm,
        {{ joined_text('unpositioned_metrics.metric', ', ', 'unpositioned_metrics.metric') }} as metrics
    from unpositioned_metrics
    left join curve_metrics
        on unpositioned_metrics.arm = curve_metrics.arm and unpositioned_metrics.metric = curve_metrics.metric
    where curve_metrics.metric is null
    group by unpositioned_metrics.arm
),

unpositioned_counts as (
    select
        arm,
        count(*) as row_count
    from unpositioned_rows
    group by arm
),

final as (
    select
        case when lost_metrics.arm is not null then 'unpositioned_metrics' else 'unpositioned_rows' end as kind,
        counts.arm as subject,
        case when lost_metrics.arm is not null then 'warn' else 'info' end as severity,
        counts.row_count || ' rows are of logs without any axis and on no curve'
        || coalesce('; with them are lost ' || lost_metrics.metrics, '') as detail,
        case
            when lost_metrics.arm is not null then {{ findings_page('unpositioned_metrics') }}
            else {{ findings_page('unpositioned_rows') }}
        end as remedy
    from unpositioned_counts as counts
    left join lost_metrics on counts.arm = lost_metrics.arm
)

select * from final
