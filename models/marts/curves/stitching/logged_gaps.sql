-- Grain: one row per (log_id, segment_idx, position) that a row of the segment states.
-- Measures how far apart a segment's logged steps are; rows of one position are one step.
with steps as (
    select distinct
        log_id,
        segment_idx,
        position
    from {{ ref('placed_rows') }}
    where row_class = 'core'
),

final as (
    select
        log_id,
        segment_idx,
        position,
        position - lag(position) over along_segment as gap
    from steps
    window along_segment as (partition by log_id, segment_idx order by position)
)

select * from final
