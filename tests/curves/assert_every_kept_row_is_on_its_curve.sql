-- Protects: the join from rows to curve. The rows of a step are those that `arm_steps` counts.
-- Fails when: a kept row has no step, or a step has another number of rows than it says.
-- Not a check of: the values (`arm_metrics`).
with kept as (
    select
        arm,
        training_step,
        count(*) as kept_row_count
    from {{ ref('run_rows') }}
    where drop_reason is null
    group by arm, training_step
)

select
    coalesce(kept.arm, steps.arm) as arm,
    coalesce(kept.training_step, steps.training_step) as training_step,
    kept.kept_row_count,
    steps.row_count
from kept
full join {{ ref('arm_steps') }} as steps on kept.arm = steps.arm and kept.training_step = steps.training_step
where kept.kept_row_count is distinct from steps.row_count
