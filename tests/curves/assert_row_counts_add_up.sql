-- Protects: label, never drop. Every landed history row is in `run_rows` once; a run's counts add up to it.
-- Fails when: a join loses or repeats rows, or a label is not counted in `runs`.
-- Not a check of: whether a label is right.
with landed as (
    select
        run_id,
        sum(row_count) as landed_row_count
    from {{ ref('logs') }}
    where run_id is not null
    group by run_id
),

labelled as (
    select
        run_id,
        count(*) as labelled_row_count
    from {{ ref('run_rows') }}
    group by run_id
)

select
    landed.run_id,
    landed.landed_row_count,
    labelled.labelled_row_count,
    runs.row_count
from landed
left join labelled on landed.run_id = labelled.run_id
left join {{ ref('runs') }} as runs on landed.run_id = runs.run_id
where
    landed.landed_row_count is distinct from coalesce(labelled.labelled_row_count, 0)
    or landed.landed_row_count is distinct from runs.row_count
    or runs.row_count is distinct from (
        runs.kept_row_count + runs.duplicate_source_row_count + runs.excluded_row_count + runs.unpositioned_row_count
        + runs.other_lineage_row_count + runs.rolled_back_row_count + runs.seam_collapsed_row_count
    )
