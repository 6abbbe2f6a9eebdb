-- Grain: one row per (arm, first_training_step): a bin of training steps.
-- Counts rollouts that end inside a tool call, and how many of them stopped on their own accord.
with judged as (
    select
        arm,
        finish_reason,
        is_malformed_tool_call,
        training_step - (training_step - 1) % {{ var('malformed_bin_steps') }} as first_training_step
    from {{ ref('rollouts') }}
    where drop_reason is null and is_malformed_tool_call is not null
),

final as (
    select
        arm,
        first_training_step,
        first_training_step + {{ var('malformed_bin_steps') }} - 1 as last_training_step,
        count(*) as rollout_count,
        count(*) filter (where is_malformed_tool_call) as malformed_count,
        count(*) filter (where is_malformed_tool_call) / count(*) as malformed_fraction,
        count(*) filter (where is_malformed_tool_call and finish_reason = 'stop') as malformed_stop_count
    from judged
    group by arm, first_training_step
)

select * from final
