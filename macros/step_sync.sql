{#- The CTEs up to `step_sync_rows` (log_id, row_idx): rows into which W&B's step_sync wrote a step metric before its
    first real value: 0, or the last value of the launch before. The rows before it: `keyed_rows` (scope, log_id,
    row_idx, position_key, key_value), `step_metrics` (scope, log_id, metric).

    The rows before a log's first change of the key, where the key falls there, or rises from 0 by more than two gaps,
    and none of them logs a metric of the row that changes it. -#}
{% macro step_sync() -%}
synced_logs as (
    select
        keyed_rows.*,
        first_value(key_value) over up_to_row as first_key_value
    from keyed_rows
    inner join step_metrics
        on keyed_rows.log_id = step_metrics.log_id and keyed_rows.position_key = step_metrics.metric
    where keyed_rows.key_value is not null and keyed_rows.position_key <> '_step'
    window up_to_row as (
        partition by keyed_rows.log_id order by keyed_rows.row_idx rows between unbounded preceding and current row
    )
),

changes as (
    select
        log_id,
        min(row_idx) as change_row_idx
    from synced_logs
    where key_value <> first_key_value
    group by log_id
),

gaps_after as (
    select
        synced_logs.log_id,
        synced_logs.key_value - lag(synced_logs.key_value) over along_log as gap
    from synced_logs
    inner join changes on synced_logs.log_id = changes.log_id
    where synced_logs.row_idx >= changes.change_row_idx
    window along_log as (partition by synced_logs.log_id order by synced_logs.row_idx)
),

median_gaps_after as (
    select
        log_id,
        coalesce(median(case when gap > 0 then gap end), 0) as median_gap
    from gaps_after
    group by log_id
),

jumps as (
    select synced_logs.*
    from synced_logs
    inner join changes on synced_logs.log_id = changes.log_id and synced_logs.row_idx = changes.change_row_idx
    inner join median_gaps_after on synced_logs.log_id = median_gaps_after.log_id
    where
        synced_logs.first_key_value > synced_logs.key_value
        or (synced_logs.first_key_value = 0 and synced_logs.key_value > 2 * median_gaps_after.median_gap)
),

jump_metrics as (
    select
        history.log_id,
        history.metric,
        min(history.row_idx) < max(jumps.row_idx) and max(history.row_idx) = max(jumps.row_idx) as is_shared
    from {{ ref('stg_history__values') }} as history
    inner join synced_logs on history.log_id = synced_logs.log_id and history.row_idx = synced_logs.row_idx
    inner join jumps on history.log_id = jumps.log_id and history.row_idx <= jumps.row_idx
    inner join {{ ref('log_metrics') }} as log_metrics
        on history.log_id = log_metrics.log_id and history.metric = log_metrics.metric
    left join (select distinct step_metrics.scope, step_metrics.metric from step_metrics) as declared_axes
        on jumps.scope = declared_axes.scope and history.metric = declared_axes.metric
    where log_metrics.is_connecting_name and declared_axes.metric is null and history.metric <> jumps.position_key
    group by history.log_id, history.metric
),

step_sync_rows as (
    select
        synced_logs.log_id,
        synced_logs.row_idx
    from synced_logs
    inner join jumps on synced_logs.log_id = jumps.log_id and synced_logs.row_idx < jumps.row_idx
    left join (select distinct jump_metrics.log_id from jump_metrics where jump_metrics.is_shared) as redone
        on synced_logs.log_id = redone.log_id
    where redone.log_id is null
)
{%- endmacro %}
