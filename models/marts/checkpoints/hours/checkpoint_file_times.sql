{%- set crowd = var('flattened_checkpoint_count') | int(3) -%}
-- Grain: one row per checkpoint of a sweep that holds a file (checkpoint_key).
-- Decides which file times tell when a checkpoint was written, and which when it was copied: copies crowd in time.
with records as (select * from {{ ref('checkpoint_records') }}),

newest_files as (
    select
        records.checkpoint_key,
        records.cell,
        newest_files.newest_modified_at,
        newest_files.file_count
    from records
    inner join {{ ref('stg_checkpoints__newest_files') }} as newest_files
        on records.source_name = newest_files.source_name and records.folder_idx = newest_files.folder_idx
    where records.source_kind = 'sweep'
),

-- The shortest stretch of time that holds this checkpoint and enough neighbours, whichever way they lie.
crowded as (
    select
        *,
        least(
            {%- for ahead in range(crowd) %}
            coalesce(
                {{ hours_between(
                    'lag(newest_modified_at, ' ~ (crowd - 1 - ahead) ~ ') over by_time',
                    'lead(newest_modified_at, ' ~ ahead ~ ') over by_time'
                ) }},
                1e9
            ){{ ',' if not loop.last }}
            {%- endfor %}
        ) as crowded_hours
    from newest_files
    window by_time as (partition by cell order by newest_modified_at, checkpoint_key)
),

final as (
    select
        checkpoint_key,
        cell,
        newest_modified_at,
        file_count,
        crowded_hours * 3600 <= {{ var('flattened_seconds') }} as is_flattened
    from crowded
)

select * from final
