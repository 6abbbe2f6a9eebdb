-- Protects: metrics whose rows lack the axis. A row of a log with any axis has a place, and a row has a segment, a
-- track and a source of its position where it has a position.
-- Fails when: a log has both positioned and unpositioned rows, or one of the four is told without the others.
-- Not a check of: whether a position is right.
with labelled as (
    select
        log_id,
        row_idx,
        drop_reason,
        max(case when position is not null then 1 else 0 end) over (partition by log_id) as has_axis,
        case when position is null then 0 else 1 end
        + case when position_source is null then 0 else 1 end
        + case when segment_number is null then 0 else 1 end
        + case when track_number is null then 0 else 1 end as told_count
    from {{ ref('run_rows') }}
)

select
    log_id,
    row_idx,
    drop_reason,
    told_count
from labelled
where
    told_count not in (0, 4)
    or (drop_reason = 'unpositioned' and has_axis = 1)
    or (told_count = 0) <> (coalesce(drop_reason, 'kept') in ('duplicate_source', 'excluded', 'unpositioned'))
