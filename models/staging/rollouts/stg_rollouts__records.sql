-- Grain: one row per (shard, line) that is a record.
select
    source_name,
    line_number,
    run_name,
    step_idx,
    sample_idx,
    prompt_idx,
    prompt_tokens,
    response_tokens,
    coalesce(logprob_count = response_tokens, false) as has_logprobs,
    zero_run_starts,
    zero_run_tokens,
    special_positions,
    special_ids,
    reward,
    advantage,
    finish_reason,
    dataset,
    call_count,
    record_digest
from {{ source('rollouts', 'rollout_records') }}
