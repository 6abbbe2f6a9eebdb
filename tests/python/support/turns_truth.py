"""Compares the turn marts of a home with the truth a simulation planted. Used by a test (small) and a bench (card)."""

from pathlib import Path

import duckdb

ROLLOUTS = """
    select 'rollouts', t.run_name, t.step_idx, t.sample_idx, t, r
    from truth_rollouts as t
    full join (
        select rollouts.*, regexp_extract(landed.path, '[^/]+$') as shard
        from rollouts inner join landing.landed_sources as landed using (source_name)
    ) as r using (run_name, step_idx, sample_idx)
    where t.run_name is null or r.run_name is null
        or r.training_step <> r.step_idx + 1
        or {pairs}
"""
SAME_COLUMNS = (
    *("arm", "drop_reason", "response_tokens", "assistant_tokens", "tool_output_tokens", "tool_block_count"),
    *("assistant_segment_count", "tool_call_tokens", "tool_call_span_count", "unclosed_tool_call_tokens"),
    *("call_count", "finish_reason", "shard", "line_number"),
)
ARM_TURNS = """
    select 'arm_turns', coalesce(t.arm, a.arm), coalesce(t.training_step, a.training_step), t, a
    from truth_arm_turns as t
    full join arm_turns as a on t.arm = a.arm and t.training_step = a.training_step
    where t.arm is null or a.arm is null or {pairs}
        or a.assistant_tokens_per_turn is distinct from t.assistant_tokens_total / t.assistant_segments_total
        or a.assistant_tokens_mean_per_rollout is distinct from t.assistant_tokens_total / t.n_split_rollouts
        or a.assistant_segments_mean_per_rollout is distinct from t.assistant_segments_total / t.n_split_rollouts
        or a.tool_output_tokens_mean_per_rollout is distinct from t.tool_output_tokens_total / t.n_split_rollouts
        or a.tool_token_fraction is distinct from t.tool_output_tokens_total / t.response_tokens_total
        or a.mean_tool_call_length_tokens is distinct from
            t.assistant_tool_call_tokens_total / t.assistant_tool_call_spans_total
        or a.mean_closed_tool_call_length_tokens is distinct from
            (t.assistant_tool_call_tokens_total - t.unclosed_tool_call_tokens_total)
            / nullif(t.assistant_tool_call_spans_total - t.malformed_tool_call_rollouts, 0)
"""
TOTALS = (
    *("step_idx", "n_rollouts", "n_split_rollouts", "response_tokens_total", "assistant_tokens_total"),
    *("assistant_segments_total", "tool_output_tokens_total", "tool_blocks_total", "num_calls_total"),
    *("assistant_tool_call_tokens_total", "assistant_non_tool_call_tokens_total"),
    *("assistant_tool_call_spans_total", "malformed_tool_call_rollouts"),
)
MALFORMED = """
    with told as (
        select
            arm, (training_step - 1) // 50 * 50 + 1 as first_training_step, sum(n_split_rollouts) as rollout_count,
            sum(malformed_tool_call_rollouts) as malformed_count, sum(malformed_stop_rollouts) as malformed_stop_count
        from truth_arm_turns where malformed_tool_call_rollouts is not null group by all
    )
    select 'malformed_tool_calls', t, m
    from told as t full join malformed_tool_calls as m using (arm, first_training_step)
    where t.rollout_count is distinct from m.rollout_count or t.malformed_count is distinct from m.malformed_count
        or t.malformed_stop_count is distinct from m.malformed_stop_count
        or m.malformed_fraction is distinct from t.malformed_count / t.rollout_count
        or m.last_training_step is distinct from t.first_training_step + 49
"""
UNREADABLE = """
    select 'quarantined_records', t, q
    from truth_unreadable as t
    full join (
        select regexp_extract(source, '[^/]+$') as shard, locator from quarantined_records where kind = 'rollouts'
    ) as q on t.shard = q.shard and 'line ' || t.line_number = q.locator
    where t.shard is null or q.shard is null
"""
FINDINGS = """
    select 'findings', t, f
    from truth_findings as t
    full join (
        select kind, regexp_extract(subject, '[^/]+$') as subject from turn_findings
        union all select kind, regexp_extract(subject, '[^/]+$') from rollout_findings
    ) as f
        on t.kind = f.kind and regexp_extract(t.subject, '[^/]+$') = f.subject
    where t.kind is null or f.kind is null
"""


COLUMNS = {
    "rollouts": "run_name varchar, step_idx bigint, sample_idx bigint, arm varchar, drop_reason varchar, "
    "response_tokens bigint, assistant_tokens bigint, tool_output_tokens bigint, tool_block_count bigint, "
    "assistant_segment_count bigint, tool_call_tokens bigint, tool_call_span_count bigint, "
    "unclosed_tool_call_tokens bigint, call_count bigint, finish_reason varchar, shard varchar, line_number bigint",
    "arm_turns": "arm varchar, training_step bigint, step_idx bigint, n_rollouts bigint, n_split_rollouts bigint, "
    "response_tokens_total bigint, assistant_tokens_total bigint, assistant_segments_total bigint, "
    "tool_output_tokens_total bigint, tool_blocks_total bigint, num_calls_total bigint, "
    "assistant_tool_call_tokens_total bigint, assistant_non_tool_call_tokens_total bigint, "
    "assistant_tool_call_spans_total bigint, malformed_tool_call_rollouts bigint, malformed_stop_rollouts bigint, "
    "unclosed_tool_call_tokens_total bigint",
    "unreadable": "shard varchar, line_number bigint",
    "findings": "kind varchar, subject varchar",
}


def differences(warehouse: duckdb.DuckDBPyConnection, simulated: Path) -> list[tuple]:
    """Every row in which a turn mart and the truth differ, the mart's name first."""
    for name, columns in COLUMNS.items():
        file = simulated / "truth" / f"turns_{name}.csv"
        warehouse.execute(f"create or replace temp table truth_{name} ({columns})")
        warehouse.execute(f"copy truth_{name} from '{file}' (header, delimiter ',', quote '\"', escape '\"')")
    queries = [
        ROLLOUTS.format(pairs=_differ("t", "r", SAME_COLUMNS)),
        ARM_TURNS.format(pairs=_differ("t", "a", TOTALS)),
        MALFORMED,
        UNREADABLE,
        FINDINGS,
    ]
    return [row for query in queries for row in warehouse.execute(query).fetchall()]


def _differ(left: str, right: str, columns: tuple[str, ...]) -> str:
    return " or ".join(f"{left}.{column} is distinct from {right}.{column}" for column in columns)
