-- Protects: k of n: every landed checkpoint is in `checkpoints` once, and every one of a cell is counted there.
-- Fails when: a join loses or repeats a checkpoint on its way from landing to `checkpoints` to `cells`.
-- Not a check of: baselines, which are no checkpoints.
with landed as (
    select
        cell,
        count(*) as landed_count
    from {{ ref('checkpoint_records') }}
    where not is_baseline and cell is not null
    group by cell
),

told as (
    select
        cell,
        count(*) as told_count
    from {{ ref('checkpoints') }}
    group by cell
)

select
    landed.cell,
    landed.landed_count,
    told.told_count,
    cells.checkpoint_count
from landed
left join told on landed.cell = told.cell
left join {{ ref('cells') }} as cells on landed.cell = cells.cell
where landed.landed_count is distinct from told.told_count or told.told_count is distinct from cells.checkpoint_count
