"""The fields of a candidate record: a reader lands them, and an export writes them back under the same names."""

TOKEN_ARRAYS = ("response_logprobs", "response_token_ids", "prompt_ids", "response_ids", "input_ids")
"""Numeric arrays, one number a token. Not landed unless asked for; their presence is in observed_fields."""

CANDIDATE = (
    ("run_id", "run_id", "text"),
    ("step", "step", "integer"),
    ("round", "round", "integer"),
    ("global_step", "global_step", "integer"),
    ("task", "task", "text"),
    ("chain", "chain", "text"),
    ("unit", "unit", "text"),
    ("group_id", "group_id", "text"),
    ("sibling_index", "sibling_index", "integer"),
    ("is_behavior", "is_behavior", "boolean"),
    ("behavior_index", "behavior_index", "integer"),
    ("behavior_action", "behavior_action", "text"),
    ("prompt_sha256", "prompt_sha256", "text"),
    ("code_sha256", "code_sha256", "text"),
    ("response_text", "response_text", "text"),
    ("is_valid", "valid", "boolean"),
    ("result_json", "result", "json"),
    ("parent_result_json", "parent_result", "json"),
    ("anchor_result_json", "anchor_result_before", "json"),
    ("is_better_than_anchor", "better_than_anchor_before", "boolean"),
    ("debug_streak", "debug_streak", "integer"),
    ("ropd_q", "ropd_q", "number"),
    ("group_mean_q", "group_mean_q", "number"),
    ("reward", "reward", "number"),
    ("reward_rule", "reward_rule", "text"),
    ("penalty_json", "penalty", "json"),
    ("grpo_reward_mean", "grpo_reward_mean", "number"),
    ("advantage", "advantage", "number"),
    ("teacher_calls", "teacher_calls", "integer"),
    ("cost_usd", "cost_usd", "number"),
)
"""(landed column, field of the record, how its value is read), in the order of the columns."""
