-- Grain: one row per (log_id, row_idx) that is usable and has a position.
-- Decides where a log's segments begin. `core` rows state their own position and make the segments; `extra` ones have a
-- place of their own between them, `carried` ones that of their neighbour.
with logged_rows as (select * from {{ ref('logged_rows') }}),

row_places as (select * from {{ ref('row_places') }}),

late_rows as (select * from {{ ref('late_rows') }}),

classed as (
    select
        logged_rows.arm,
        logged_rows.run_id,
        logged_rows.log_id,
        logged_rows.row_idx,
        logged_rows.happened_at,
        coalesce(logged_rows.position, row_places.position) as position,
        coalesce(logged_rows.position_source, row_places.position_source) as position_source,
        case
            when late_rows.log_id is null and logged_rows.position is not null then 'core'
            when row_places.position_source = 'carried' then 'carried'
            else 'extra'
        end as row_class
    from logged_rows
    left join row_places on logged_rows.log_id = row_places.log_id and logged_rows.row_idx = row_places.row_idx
    left join late_rows on logged_rows.log_id = late_rows.log_id and logged_rows.row_idx = late_rows.row_idx
    where logged_rows.position is not null or row_places.position is not null
),

falls as (
    select
        *,
        case when row_class = 'core' and position < lag(position) over along_class then 1 else 0 end as begins_segment
    from classed
    window along_class as (partition by log_id, case when row_class = 'core' then 0 else 1 end order by row_idx)
),

final as (
    select
        arm,
        run_id,
        log_id,
        row_idx,
        happened_at,
        position,
        position_source,
        row_class,
        cast(sum(begins_segment) over up_to_row as bigint) as segment_idx
    from falls
    window up_to_row as (partition by log_id order by row_idx rows between unbounded preceding and current row)
)

select * from final
