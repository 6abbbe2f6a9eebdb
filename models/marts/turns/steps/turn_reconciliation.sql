-- Grain: one row per (arm, training_step) that has rollouts and a step of the arm's curve.
-- Compares the rollouts' mean length with the one the trainer logged; beyond a hole in the curve the two may be
-- different steps, so nothing is compared.
with turns as (select * from {{ ref('arm_turns') }}),

arm_steps as (select * from {{ ref('arm_steps') }}),

logged as (
    select
        arm,
        training_step,
        value
    from {{ ref('arm_metrics') }}
    where metric = '{{ var("sequence_length_metric") }}'
),

final as (
    select
        turns.arm,
        turns.training_step,
        turns.response_tokens_mean_per_rollout as rollout_mean_response_tokens,
        logged.value as logged_sequence_length,
        case
            when not arm_steps.is_beyond_step_hole then turns.response_tokens_mean_per_rollout - logged.value
        end as difference
    from turns
    inner join arm_steps on turns.arm = arm_steps.arm and turns.training_step = arm_steps.training_step
    left join logged on turns.arm = logged.arm and turns.training_step = logged.training_step
)

select * from final
