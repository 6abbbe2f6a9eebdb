-- Grain: one row per (suite, model_id, harness): a declared baseline.
-- Decides which baseline a suite is measured from where several are declared (baseline_rank).
with baselines as (
    select
        suite,
        model_id,
        coalesce(harness, '') as harness_key,
        min(harness) as harness,
        min(score) as score,
        count(*) as row_count
    from {{ source('declared', 'baselines') }}
    group by suite, model_id, coalesce(harness, '')
)

select
    suite,
    model_id,
    harness_key,
    harness,
    score,
    row_count,
    cast(row_number() over same_model as bigint) as baseline_rank,
    cast(row_number() over same_harness as bigint) as harness_rank,
    count(*) over whole_suite as suite_baseline_count
from baselines
window
    same_model as (partition by suite, model_id order by harness_key),
    same_harness as (partition by suite, harness_key order by model_id),
    whole_suite as (partition by suite)
