-- Grain: one row per cell folder; is_standing marks the one that counts where a cell lies in several.
with cells as (select * from {{ source('checkpoints', 'checkpoint_cells') }}),

folders as (
    select
        source_name,
        count(*) as folder_count
    from {{ source('checkpoints', 'checkpoint_folders') }}
    where source_kind = 'sweep'
    group by source_name
)

select
    cells.source_name,
    cells.cell,
    cells.org,
    cells.driver,
    cells.effort,
    cells.started_at,
    cells.ended_at,
    cells.submitted,
    cells.fallback,
    coalesce(folders.folder_count, 0) as folder_count,
    row_number() over largest_first = 1 as is_standing
from cells
left join folders on cells.source_name = folders.source_name
window largest_first as (
    partition by cells.cell order by coalesce(folders.folder_count, 0) desc, cells.source_name
)
