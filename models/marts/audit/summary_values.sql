-- Grain: one row per (log_id, metric) that a log with an exit record both logged and shows in its summary, as numbers.
-- Finds the row that the summary's value comes from: the last one, or an earlier one (a run may show its best, and a
-- tracker may write the summary seldom).
{%- set tolerance = var('summary_tolerance') %}
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
        log_metrics.last_value,
        log_metrics.last_row_idx,
        -- NaN equals NaN on both engines.
        log_metrics.last_value = summary.value
        or {{ is_close(finite_or_null('log_metrics.last_value'), finite_or_null('summary.value'), tolerance) }}
            as is_last
    from {{ ref('stg_history__summary') }} as summary
    inner join logs on summary.log_id = logs.log_id
    inner join {{ ref('log_metrics') }} as log_metrics
        on summary.log_id = log_metrics.log_id and summary.metric = log_metrics.metric
    left join ambiguous on summary.log_id = ambiguous.log_id and summary.metric = ambiguous.metric
    where
        summary.value is not null
        and log_metrics.last_row_idx is not null
        and substr(summary.metric, 1, 1) <> '_'
        and ambiguous.log_id is null
),

-- Most summaries are the last value: only for the others is the history searched.
searched as (
    select
        summaries.log_id,
        summaries.metric,
        max(
            case
                when
                    history.value = summaries.value
                    or {{ is_close(finite_or_null('history.value'), finite_or_null('summaries.value'), tolerance) }}
                    then history.row_idx
            end
        ) as summary_row_idx,
        avg({{ finite_or_null('history.value') }}) as mean_value
    from summaries
    inner join {{ ref('stg_history__values') }} as history
        on summaries.log_id = history.log_id and summaries.metric = history.metric
    where not summaries.is_last and history.value is not null
    group by summaries.log_id, summaries.metric
),

final as (
    select
        summaries.log_id,
        summaries.run_id,
        summaries.source,
        summaries.metric,
        summaries.value_json as summary_json,
        summaries.value as summary_value,
        summaries.last_value,
        summaries.last_row_idx,
        case when summaries.is_last then summaries.last_row_idx else searched.summary_row_idx end as summary_row_idx,
        case
            when not summaries.is_last
                then {{ is_close(finite_or_null('summaries.value'), 'searched.mean_value', tolerance) }}
        end as is_mean
    from summaries
    left join searched on summaries.log_id = searched.log_id and summaries.metric = searched.metric
)

select * from final
