-- Grain: one row per line of a file of candidates.
-- What a row leaves out is read off its path: the run from the folder, the step from round_<N>.
select
    candidates.source_name,
    candidates.line_number,
    sources.path as source,
    files.modified_at,
    files.attempt_in_path as attempt,
    coalesce(nullif(candidates.run_id, ''), files.run_in_path, 'unknown') as reported_run_id,
    coalesce(candidates.step, candidates.global_step, candidates.round, files.round_in_path) as step,
    coalesce(candidates.round, files.round_in_path) as round,
    candidates.global_step,
    coalesce(nullif(candidates.task, ''), 'unknown') as task,
    candidates.chain,
    candidates.unit,
    candidates.group_id,
    candidates.sibling_index,
    candidates.is_behavior,
    candidates.behavior_index,
    candidates.behavior_action,
    candidates.prompt_sha256,
    candidates.code_sha256,
    candidates.is_valid,
    coalesce(nullif(candidates.outcome, ''), 'unknown') as outcome,
    candidates.score,
    candidates.parent_outcome,
    candidates.parent_score,
    candidates.is_better_than_anchor,
    candidates.debug_streak,
    candidates.ropd_q,
    candidates.group_mean_q,
    candidates.reward,
    candidates.reward_rule,
    -- `penalty` is true or false, or a number that is not zero where there is a penalty.
    case
        when candidates.penalty_json in ('true', 'false') then candidates.penalty_json = 'true'
        else try_cast(candidates.penalty_json as double) <> 0
    end as has_penalty,
    candidates.grpo_reward_mean,
    candidates.advantage,
    candidates.teacher_calls as teacher_call_count,
    {{ finite_or_null('candidates.cost_usd') }} as cost_usd,
    candidates.recorded_at
from {{ source('rounds', 'rounds_candidates') }} as candidates
inner join {{ source('rounds', 'rounds_files') }} as files
    on candidates.source_name = files.source_name
inner join {{ source('landing', 'landed_sources') }} as sources
    on candidates.source_name = sources.source_name
