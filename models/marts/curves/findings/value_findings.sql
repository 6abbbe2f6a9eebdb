-- Grain: one row per (kind, subject).
-- Decides which metrics and sources a person should look at before plotting them.
with metrics as (select * from {{ ref('metrics') }}),

logs as (select * from {{ ref('logs') }}),

kind_counts as (
    select
        run_id,
        producer,
        source_kind,
        sum(row_count) as row_count
    from logs
    where run_id is not null
    group by run_id, producer, source_kind
),

collisions as (
    select distinct
        logs.run_id,
        nested_metrics.metric
    from {{ ref('nested_metrics') }} as nested_metrics
    inner join logs on nested_metrics.log_id = logs.log_id
    where nested_metrics.is_ambiguous
),

final as (
    select
        'dead_metric' as kind,
        metric as subject,
        'warn' as severity,
        'zero in every value that was logged, on ' || arm_count
        || ' arms: as good as never filled, do not plot it' as detail,
        {{ findings_page('dead_metric') }} as remedy
    from metrics
    where is_dead
    union all
    select
        'text_among_numbers',
        metric,
        'warn',
        text_count || ' values are text where ' || value_count || ' are numbers; they stay in value_text',
        {{ findings_page('text_among_numbers') }}
    from metrics
    where text_count > 0 and value_count > 0
    union all
    select
        'sources_disagree',
        run_id,
        'warn',
        'its sources hold different numbers of history rows, from ' || cast(min(row_count) as bigint) || ' to '
        || cast(max(row_count) as bigint),
        {{ findings_page('sources_disagree') }}
    from kind_counts
    group by run_id
    having min(row_count) <> max(row_count)
    union all
    select
        'metric_name_collision',
        run_id || ' ' || metric,
        'warn',
        'a nested key and another key have one name; the curve takes the plain one where both were logged',
        {{ findings_page('metric_name_collision') }}
    from collisions
)

select * from final
