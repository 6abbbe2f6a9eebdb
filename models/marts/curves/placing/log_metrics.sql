-- Grain: one row per (log_id, metric).
-- Counts what a log holds of each metric, in the one pass over all values that other marts can do without.
with history as (select * from {{ ref('stg_history__values') }}),

counted as (
    select
        log_id,
        metric,
        count(*) as value_count,
        count(value) as number_count,
        count(value_text) as text_count,
        count(*) filter (where value <> 0) as nonzero_count,
        max_by(value, case when value is not null then row_idx end) as last_value,
        max(case when value is not null then row_idx end) as last_row_idx,
        max(key_path) is not null as has_path,
        min(coalesce(key_path, '')) <> max(coalesce(key_path, '')) as has_several_paths
    from history
    group by log_id, metric
),

names as (
    select
        metric,
        {{ last_name('metric') }} as last_name
    from (select distinct counted.metric from counted) as metrics
),

final as (
    select
        counted.log_id,
        counted.metric,
        names.last_name,
        substr(counted.metric, 1, 1) <> '_' and names.last_name not in ({{ text_list(var('axis_names')) }})
            as is_connecting_name,
        counted.value_count,
        counted.number_count,
        counted.text_count,
        counted.nonzero_count,
        counted.last_value,
        counted.last_row_idx,
        counted.has_path,
        counted.has_several_paths
    from counted
    inner join names on counted.metric = names.metric
)

select * from final
