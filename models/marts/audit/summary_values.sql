-- Grain: one row per (log_id, metric) that a log with an exit record both logged and shows in its summary, as numbers.
-- Decides whether the summary is the last value logged, or an aggregate of all that was: a run may show its best.
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
        summary.value
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

compared as (
    select
        summaries.log_id,
        summaries.run_id,
        summaries.source,
        summaries.metric,
        summaries.value_json as summary_json,
        summaries.value as summary_value,
        max(history.row_idx) as last_row_idx,
        max_by(history.value, history.row_idx) as last_value,
        min_by(history.value, history.row_idx) as first_value,
        min(history.finite_value) as smallest_value,
        max(history.finite_value) as largest_value,
        avg(history.finite_value) as mean_value
    from summaries
    inner join history on summaries.log_id = history.log_id and summaries.metric = history.metric
    group by
        summaries.log_id, summaries.run_id, summaries.source, summaries.metric, summaries.value_json, summaries.value
),

finite as (
    select
        *,
        {{ finite_or_null('summary_value') }} as finite_summary_value,
        {{ finite_or_null('last_value') }} as finite_last_value,
        {{ finite_or_null('first_value') }} as finite_first_value
    from compared
),

final as (
    select
        log_id,
        run_id,
        source,
        metric,
        summary_json,
        summary_value,
        last_value,
        last_row_idx,
        -- NaN equals NaN on both engines.
        summary_value = last_value
        or {{ is_close('finite_summary_value', 'finite_last_value', var('summary_tolerance')) }} as is_last_value,
        {%- for aggregate in ['finite_first_value', 'smallest_value', 'largest_value', 'mean_value'] %}
        {{ is_close('finite_summary_value', aggregate, var('summary_tolerance')) }}
        {%- if not loop.last %} or{% endif %}
        {%- endfor %} as is_aggregate
    from finite
)

select * from final
