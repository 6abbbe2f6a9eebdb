-- Protects: the accounting. A response token is of the policy or inserted; one of the policy is of a tool call or not.
-- Fails when: a rollout or a step whose parts are known does not add up to its whole, or a part is negative.
-- Not a check of: which part a token belongs to.
select
    'rollout' as grain,
    rollout_number as id,
    response_tokens,
    assistant_tokens,
    tool_output_tokens,
    tool_call_tokens,
    non_tool_call_tokens
from {{ ref('rollouts') }}
where
    response_tokens <> assistant_tokens + tool_output_tokens
    or assistant_tokens <> tool_call_tokens + non_tool_call_tokens
    or least(assistant_tokens, tool_output_tokens, tool_call_tokens, non_tool_call_tokens) < 0
    or unclosed_tool_call_tokens > tool_call_tokens
union all
select
    arm as grain,
    training_step as id,
    response_tokens_total,
    assistant_tokens_total,
    tool_output_tokens_total,
    assistant_tool_call_tokens_total,
    assistant_non_tool_call_tokens_total
from {{ ref('arm_turns') }}
where
    response_tokens_total <> assistant_tokens_total + tool_output_tokens_total
    or assistant_tokens_total <> assistant_tool_call_tokens_total + assistant_non_tool_call_tokens_total
