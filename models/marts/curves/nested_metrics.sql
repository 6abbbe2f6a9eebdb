-- Grain: one row per (log_id, metric) that a log holds as a nested key.
-- Decides whether its name is ambiguous: shared with a plain key or with another path.
with history as (select * from {{ ref('stg_history__values') }}),

nested as (
    select distinct
        log_id,
        metric
    from history
    where key_path is not null
),

final as (
    select
        nested.log_id,
        nested.metric,
        count(distinct coalesce(history.key_path, '')) > 1 as is_ambiguous
    from nested
    inner join history on nested.log_id = history.log_id and nested.metric = history.metric
    group by nested.log_id, nested.metric
)

select * from final
