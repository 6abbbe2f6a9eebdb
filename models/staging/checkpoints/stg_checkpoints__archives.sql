-- Grain: one row per archive line of a janitor log, with the checkpoint it names.
select
    archives.source_name,
    archives.line_number,
    archives.logged_at,
    cells.cell,
    {{ checkpoint_key('cells.cell', 'archives.family', 'archives.step_name', 'null') }} as checkpoint_key
from {{ source('checkpoints', 'checkpoint_archives') }} as archives
inner join {{ source('checkpoints', 'checkpoint_cells') }} as cells on archives.source_name = cells.source_name
where archives.action = 'archived'
