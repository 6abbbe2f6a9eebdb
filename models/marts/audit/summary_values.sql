-- Grain: one row per (log_id, metric) that a log with an exit record both logged and shows in its summary, as numbers.
-- Finds the row that the summary's value comes from: the last one, or an earlier one (a run may show its best, and a
-- tracker may write the summary seldom).
with logs as (
    select * from {{ ref('stg_history__logs') }}
    where has_exit_record
),

-- Of two nested keys that join to one name none is the summary's for sure.
ambiguous as (
    select * from {{ ref('nested_metrics') }}
    where is_ambiguous
),

summaries as (
    select
        logs.log_id,
        logs.run_id,
        logs.source,
        summary.metric,
        summary.value_json,
        summary.value,
        {{ finite_or_null('summary.value') }} as finite_value
    from {{ ref('stg_history__summary') }} as summary
    inner join logs on summary.log_id = logs.log_id
    left join ambiguous on summary.log_id = ambiguous.log_id and summary.metric = ambiguous.metric
    where summary.value is not null and substr(summary.metric, 1, 1) <> '_' and ambiguous.log_id is null
),

history as (
    select
        log_id,
        row_idx,
        metric,
        value,
        {{ finite_or_null('value') }} as finite_value
    from {{ ref('stg_history__values') }}
    where value is not null
),

paired as (
    select
        summaries.log_id,
        summaries.run_id,
        summaries.source,
        summaries.metric,
        summaries.value_json,
        summaries.value,
        summaries.finite_value,
        history.row_idx,
        history.value as logged_value,
        history.finite_value as finite_logged_value,
        -- NaN equals NaN on both engines.
        history.value = summaries.value
        or {{ is_close('history.finite_value', 'summaries.finite_value', var('summary_tolerance')) }} as is_equal
    from summaries
    inner join history on summaries.log_id = history.log_id and summaries.metric = history.metric
),

final as (
    select
        log_id,
        run_id,
        source,
        metric,
        value_json as summary_json,
        value as summary_value,
        max_by(logged_value, row_idx) as last_value,
        max(row_idx) as last_row_idx,
        max(case when is_equal then row_idx end) as summary_row_idx,
        {{ is_close('finite_value', 'avg(finite_logged_value)', var('summary_tolerance')) }} as is_mean
    from paired
    group by log_id, run_id, source, metric, value_json, value, finite_value
)

select * from final
