-- Protects: by-run files. Of two nested keys that join to one name each has a column of its own.
-- Fails when: a line of a log with such names has two cells under one heading.
-- Not a check of: logs without them, whose headings are the metrics' names as they landed.
with ambiguous_logs as (
    select distinct log_id from {{ ref('nested_metrics') }}
    where is_ambiguous
),

ambiguous_rows as (
    select
        file_rows.run_id,
        file_rows.file_row_idx
    from {{ ref('run_file_rows') }} as file_rows
    inner join ambiguous_logs on file_rows.log_id = ambiguous_logs.log_id
)

select
    cells.run_id,
    cells.file_row_idx,
    cells.heading,
    count(*) as cell_count
from {{ ref('run_file_values') }} as cells
inner join ambiguous_rows on cells.run_id = ambiguous_rows.run_id and cells.file_row_idx = ambiguous_rows.file_row_idx
group by cells.run_id, cells.file_row_idx, cells.heading
having count(*) > 1
