-- Grain: one row: the campaign; none where no rollout landed.
-- Its rollouts in all, and how far the blocks found and the calls reported lie apart.
with rollouts as (
    select
        count(*) as rollout_count,
        count(*) filter (where drop_reason is null) as kept_rollout_count,
        count(case when drop_reason is null then assistant_tokens end) as split_rollout_count,
        min(case when drop_reason is null then training_step end) as first_training_step,
        max(case when drop_reason is null then training_step end) as last_training_step
    from {{ ref('rollouts') }}
    having count(*) > 0
),

batches as (
    select
        cast(sum(block_count) as bigint) as block_count,
        cast(sum(call_count) as bigint) as call_count,
        max(block_call_difference_fraction) as worst_block_call_difference_fraction
    from {{ ref('rollout_batches') }}
)

select
    rollouts.rollout_count,
    rollouts.kept_rollout_count,
    rollouts.split_rollout_count,
    rollouts.first_training_step,
    rollouts.last_training_step,
    batches.block_count,
    batches.call_count,
    batches.worst_block_call_difference_fraction
from rollouts
cross join batches
where rollouts.rollout_count > 0
