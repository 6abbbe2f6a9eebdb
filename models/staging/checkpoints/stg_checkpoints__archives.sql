-- Grain: one row per line of a janitor log, with the checkpoint it names.
select
    archives.source_name,
    archives.line_number,
    archives.logged_at,
    archives.action = 'archived' as is_archive,
    cells.cell,
    archives.family,
    archives.step_name,
    {{ checkpoint_key('cells.cell', 'archives.family', 'archives.step_name', 'null') }} as checkpoint_key
from {{ source('checkpoints', 'checkpoint_archives') }} as archives
inner join {{ source('checkpoints', 'checkpoint_cells') }} as cells on archives.source_name = cells.source_name
