-- Grain: one row per (run_id, reward_rule, is_valid, has_penalty), null being unknown.
-- Counts kept candidates of formal runs by the rule that gave their reward.
select
    run_id,
    reward_rule,
    is_valid,
    has_penalty,
    count(*) as candidate_count
from {{ ref('candidates') }}
where drop_reason is null and not is_diagnostic
group by run_id, reward_rule, is_valid, has_penalty
