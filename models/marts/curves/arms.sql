-- Grain: one row per arm.
-- Sets an arm's stitched curve beside what was declared of it.
with runs as (
    select
        arm,
        count(*) as run_count,
        sum(log_count) as log_count,
        sum(row_count) as logged_row_count,
        max(position_key) as position_key,
        bool_and(is_diagnostic) as is_diagnostic
    from {{ ref('runs') }}
    group by arm
),

families as (
    select
        arm,
        min(variant_of) as variant_of,
        case when count(seed) = count(*) and min(seed) = max(seed) then min(seed) end as seed
    from {{ ref('run_arms') }}
    group by arm
),

lineages as (
    select
        arm,
        count(*) filter (where is_leaf) as lineage_count,
        max(case when is_leaf and not is_chosen then lineage_step_count end) as longest_other_lineage_step_count,
        max(case when is_chosen then lineage_step_count end) as chosen_lineage_step_count,
        max_by(run_id, case when is_chosen then segment_number end) as leaf_run_id
    from {{ ref('segments') }}
    where is_main_track
    group by arm
),

steps as (
    select
        arm,
        count(*) as step_count,
        bool_or(is_beyond_step_hole) as has_step_hole
    from {{ ref('arm_steps') }}
    group by arm
),

margins as (select * from {{ ref('arm_margins') }}),

declared as (select * from {{ source('declared', 'arms') }}),

final as (
    select
        runs.arm,
        families.variant_of,
        families.seed,
        runs.run_count,
        cast(runs.log_count as bigint) as log_count,
        cast(runs.logged_row_count as bigint) as logged_row_count,
        coalesce(lineages.lineage_count, 0) as lineage_count,
        cast(lineages.longest_other_lineage_step_count as bigint) as longest_other_lineage_step_count,
        cast(lineages.chosen_lineage_step_count as bigint) as chosen_lineage_step_count,
        lineages.leaf_run_id,
        coalesce(steps.step_count, 0) as step_count,
        declared.expected_step_count,
        declared.expected_rollouts_per_step,
        declared.is_running,
        coalesce(steps.step_count, 0) = declared.expected_step_count as is_complete,
        coalesce(steps.has_step_hole, false) as has_step_hole,
        runs.position_key,
        margins.median_gap,
        margins.logging_interval,
        margins.tightest_kept_gap_ratio,
        margins.tightest_kept_seam_ratio,
        margins.widest_collapsed_gap_ratio,
        coalesce(declared.headline_metric, '{{ var("headline_metric") }}') as headline_metric,
        declared.note,
        runs.is_diagnostic
    from runs
    inner join families on runs.arm = families.arm
    left join lineages on runs.arm = lineages.arm
    left join margins on runs.arm = margins.arm
    left join steps on runs.arm = steps.arm
    left join declared on runs.arm = declared.arm
)

select * from final
