-- Grain: one row per arm that has a curve.
-- Measures how safe the seam threshold was on the arm's main track, and how often its trainer logs.
with steps as (
    select * from {{ ref('logged_steps') }}
    where is_main_track and standing_position is not null
),

arm_keys as (
    select
        *,
        evidence = 'declared' or position_key in ({{ text_list(var('trainer_step_keys')) }}) as counts_steps
    from {{ ref('arm_keys') }}
),

margins as (
    select
        arm,
        max(median_gap) as median_gap,
        min(case when not is_same_step then gap_ratio end) as tightest_kept_gap_ratio,
        min(case when not is_same_step and is_seam then gap_ratio end) as tightest_kept_seam_ratio,
        max(case when is_same_step then gap_ratio end) as widest_collapsed_gap_ratio
    from steps
    group by arm
),

trainer_steps as (
    select
        arm_metrics.arm,
        arm_metrics.value - lag(arm_metrics.value) over along_arm as gap
    from {{ ref('arm_metrics') }} as arm_metrics
    inner join arm_keys on arm_metrics.arm = arm_keys.arm and arm_metrics.metric = arm_keys.trainer_step_key
    where {{ finite_or_null('arm_metrics.value') }} is not null
    window along_arm as (partition by arm_metrics.arm order by arm_metrics.training_step)
),

trainer_gaps as (
    select
        arm,
        median(gap) as median_gap
    from trainer_steps
    group by arm
),

final as (
    select
        margins.arm,
        margins.median_gap,
        margins.tightest_kept_gap_ratio,
        margins.tightest_kept_seam_ratio,
        margins.widest_collapsed_gap_ratio,
        case when arm_keys.counts_steps then margins.median_gap else trainer_gaps.median_gap end as logging_interval
    from margins
    inner join arm_keys on margins.arm = arm_keys.arm
    left join trainer_gaps on margins.arm = trainer_gaps.arm
)

select * from final
