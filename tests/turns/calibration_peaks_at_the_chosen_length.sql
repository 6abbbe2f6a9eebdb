-- Protects: the var `min_zero_run_tokens`. At the right length of a zero run, blocks equal reported calls most often.
-- Fails when: another length matches in more rollouts than the chosen one.
-- Not a check of: how often it matches.
{{ config(severity = 'warn') }}

select
    better.min_run_tokens,
    better.matching_rollout_count,
    chosen.min_run_tokens as chosen_min_run_tokens,
    chosen.matching_rollout_count as chosen_matching_rollout_count
from {{ ref('zero_run_calibration') }} as better
inner join {{ ref('zero_run_calibration') }} as chosen
    on better.matching_rollout_count > chosen.matching_rollout_count
where chosen.is_used
