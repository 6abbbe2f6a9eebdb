-- Grain: one row per (arm, training_step) that has rollouts that count, or should have.
-- Sets each step's rollouts beside the declared batch, and the blocks found beside the calls reported.
with kept as (
    select * from {{ ref('rollouts') }}
    where drop_reason is null
),

counted as (
    select
        arm,
        training_step,
        count(*) as n_rollouts,
        sum(case when call_count is not null then tool_block_count end) as block_count,
        sum(case when tool_block_count is not null then call_count end) as call_count
    from kept
    group by arm, training_step
),

spanned as (
    select
        arm,
        min(training_step) as first_training_step,
        max(training_step) as last_training_step
    from counted
    group by arm
),

-- A step of the curve between the first and the last saved batch has one too, or it was lost.
steps as (
    select
        arm,
        training_step
    from counted
    union
    select
        arm_steps.arm,
        arm_steps.training_step
    from {{ ref('arm_steps') }} as arm_steps
    inner join spanned
        on
            arm_steps.arm = spanned.arm
            and arm_steps.training_step >= spanned.first_training_step
            and arm_steps.training_step <= spanned.last_training_step
    where not arm_steps.is_beyond_step_hole
),

declared as (select * from {{ source('declared', 'arms') }}),

final as (
    select
        steps.arm,
        steps.training_step,
        coalesce(counted.n_rollouts, 0) as n_rollouts,
        declared.expected_rollouts_per_step,
        cast(counted.block_count as bigint) as block_count,
        cast(counted.call_count as bigint) as call_count,
        abs(counted.block_count - counted.call_count)
        / nullif(greatest(counted.call_count, counted.block_count), 0) as block_call_difference_fraction
    from steps
    left join counted on steps.arm = counted.arm and steps.training_step = counted.training_step
    left join declared on steps.arm = declared.arm
)

select * from final
