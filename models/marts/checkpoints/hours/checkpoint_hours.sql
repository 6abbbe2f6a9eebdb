-- Grain: one row per (checkpoint_key, evidence).
-- Decides which evidence of a checkpoint's hour can be used: inside the run, and not a time that copying left behind.
with records as (select * from {{ ref('checkpoint_records') }}),

runs as (
    select * from {{ ref('stg_checkpoints__cells') }}
    where is_standing
),

file_times as (select * from {{ ref('checkpoint_file_times') }}),

archived as (
    select
        archives.checkpoint_key,
        coalesce(
            min(
                case
                    when
                        archives.logged_at >= runs.started_at
                        and archives.logged_at <= coalesce(runs.ended_at, archives.logged_at)
                        then archives.logged_at
                end
            ),
            min(archives.logged_at)
        ) as logged_at
    from {{ ref('stg_checkpoints__archives') }} as archives
    left join runs on archives.source_name = runs.source_name
    where archives.is_archive
    group by archives.checkpoint_key
),

timed as (
    select
        checkpoint_key,
        'mtime' as evidence,
        1 as evidence_rank,
        newest_modified_at as written_at,
        is_flattened
    from file_times
    union all
    select
        checkpoint_key,
        'janitor' as evidence,
        2 as evidence_rank,
        logged_at as written_at,
        false as is_flattened
    from archived
),

candidates as (
    select
        records.checkpoint_key,
        timed.evidence,
        timed.evidence_rank,
        timed.evidence as hour_source,
        timed.written_at,
        {{ hours_between('runs.started_at', 'timed.written_at') }} as hour,
        timed.is_flattened
    from timed
    inner join records on timed.checkpoint_key = records.checkpoint_key
    left join runs on records.cell = runs.cell
    union all
    select
        checkpoint_key,
        'published' as evidence,
        3 as evidence_rank,
        coalesce(published_hour_source, 'published') as hour_source,
        cast(null as timestamp) as written_at,
        published_hour as hour,
        false as is_flattened
    from records
    where published_hour is not null
    union all
    select
        checkpoint_key,
        'model_id' as evidence,
        4 as evidence_rank,
        'model_id' as hour_source,
        cast(null as timestamp) as written_at,
        hour_in_id as hour,
        false as is_flattened
    from records
    where hour_in_id is not null
),

final as (
    select
        candidates.checkpoint_key,
        records.cell,
        records.family,
        records.step,
        candidates.evidence,
        candidates.evidence_rank,
        candidates.hour_source,
        candidates.written_at,
        candidates.hour,
        candidates.hour_source in ('mtime', 'janitor') as is_exact,
        case
            when candidates.is_flattened then 'flattened'
            when candidates.hour is null then 'no_start'
            when candidates.hour < 0 then 'before_start'
            when candidates.hour > {{ hours_between('runs.started_at', 'runs.ended_at') }} then 'after_end'
        end as drop_reason
    from candidates
    inner join records on candidates.checkpoint_key = records.checkpoint_key
    left join runs on records.cell = runs.cell
)

select * from final
