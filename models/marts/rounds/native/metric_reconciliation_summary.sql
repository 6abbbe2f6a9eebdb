-- Grain: one row per run_id.
-- Sums up the comparison of native metrics with W&B: steps that both hold, values that both hold, disagreements.
with native as (
    select
        run_id,
        count(distinct step) as native_step_count,
        count(*) as native_value_count
    from {{ ref('training_metrics') }}
    group by run_id
),

shared as (
    select
        run_id,
        count(distinct step) as step_count,
        count(*) as shared_value_count,
        count(case when not agrees then 1 end) as disagreement_count
    from {{ ref('metric_reconciliation') }}
    group by run_id
)

select
    native.run_id,
    native.native_step_count,
    native.native_value_count,
    coalesce(shared.step_count, 0) as step_count,
    coalesce(shared.shared_value_count, 0) as shared_value_count,
    coalesce(shared.disagreement_count, 0) as disagreement_count
from native
left join shared on native.run_id = shared.run_id
