"""Landing rows of rollouts that a test spells out: their lines go through the reader, so the evidence is its own."""

import json
from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import PurePath

from ingest.formats.lines import Line
from ingest.open_instruct.record import SCALARS, RecordReader
from tests.python.support.models import Models

OPEN, CLOSE, END = 248_058, 248_059, 248_046
QWEN = {
    "model_pattern": "*Qwen3.5*",
    "tool_call_open_id": OPEN,
    "tool_call_close_id": CLOSE,
    "end_of_turn_id": END,
    "source": "test",
}
START = datetime(2026, 9, 1)
SPLIT_COLUMNS = (
    "assistant_tokens, tool_output_tokens, tool_block_count, assistant_segment_count, tool_call_tokens, "
    "tool_call_span_count, unclosed_tool_call_tokens, is_malformed_tool_call, non_tool_call_tokens"
)


def record(
    step: int,
    sample: int,
    tokens: Sequence[int] = (1, 2, 3),
    logprobs: Sequence[float] | None = None,
    calls: int | None = 0,
    finish_reason: str = "stop",
    **fields: object,
) -> dict:
    """A record as the trainer writes it; logprobs default to -0.5 for every token."""
    return {
        "step": step,
        "sample_idx": sample,
        "prompt_idx": 0,
        "prompt_tokens": [5, 6],
        "response_tokens": list(tokens),
        "reward": 1.0,
        "advantage": 0.5,
        "finish_reason": finish_reason,
        "dataset": "swe",
        "ground_truth": "x",
        "request_info": {} if calls is None else {"num_calls": calls, "timeouts": 0},
        "logprobs": [-0.5] * len(tokens) if logprobs is None else list(logprobs),
    } | fields


def response(*pieces: int | str) -> dict[str, list]:
    """Tokens and logprobs from pieces: n > 0 tokens of the policy, n < 0 zeros, "<" a tool call opens, ">" it closes.

    "(" and ")" are the same two markers with a logprob of 0.
    """
    tokens: list[int] = []
    logprobs: list[float] = []
    for piece in pieces:
        if isinstance(piece, int):
            tokens += [1] * abs(piece)
            logprobs += [-0.5 if piece > 0 else 0.0] * abs(piece)
        else:
            tokens.append(OPEN if piece in "<(" else CLOSE)
            logprobs.append(-0.5 if piece in "<>" else 0.0)
    return {"tokens": tokens, "logprobs": logprobs}


def shard(
    run_name: str,
    records: Iterable[dict],
    number: int = 0,
    folder: str = "/rollouts",
    special_ids: Sequence[int] = (END, OPEN, CLOSE),
) -> dict[str, list[dict]]:
    """The landing rows of one shard."""
    path = PurePath(folder, f"{run_name}_rollouts_{number:06d}.jsonl")
    reader = RecordReader(list(special_ids), keep_tokens=False)
    rows = []
    for line_number, fields in enumerate(records, 1):
        text = bytearray(json.dumps(fields).encode())
        found = reader.read(Line(line_number, text, 0, len(text)))
        rows.append(
            dict(zip(SCALARS, found.scalars, strict=True))
            | {
                "source_name": str(path),
                "line_number": line_number,
                "run_name": run_name,
                "prompt_tokens": found.prompt_tokens,
                "response_tokens": found.response_tokens,
                "logprob_count": found.logprob_count,
                "nan_logprob_count": found.nan_logprob_count,
                "zero_run_starts": found.zero_run_starts.tolist(),
                "zero_run_tokens": found.zero_run_tokens.tolist(),
                "special_positions": found.special_positions.tolist(),
                "special_ids": found.special_ids.tolist(),
                "record_digest": text.decode(),
            }
        )
    file = {"source_name": str(path), "run_name": run_name, "shard_number": number, "record_count": len(rows)}
    return {
        "rollout_records": rows,
        "rollout_files": [file | {"special_token_ids": list(special_ids)}],
        "landed_sources": [{"source_name": str(path), "path": str(path), "kind": "rollouts"}],
    }


def metadata(run_name: str, model_name: str | None = "Qwen/Qwen3.5-9B", started_at: datetime | None = START) -> dict:
    """The landing row of one run's metadata."""
    row = {"source_name": f"{run_name} metadata", "line_number": 1, "run_name": run_name, "model_name": model_name}
    return {"rollout_runs": [row | {"started_at": started_at}]}


def curve(
    arm: str, steps: int, run_name: str | None = None, skipped: range = range(0), lengths: float | None = None
) -> dict[str, list[dict]]:
    """The landing rows of a W&B run whose curve has `steps` steps, but for the ordinals in `skipped` (from 1)."""
    log_id = f"{arm} {run_name} log"
    logged = [step for step in range(1, steps + 1) if step not in skipped]
    keys = [{"source_name": log_id, "row_idx": idx} for idx in range(len(logged))]
    values = [{"metric": "global_step", "value": 100.0 * step} for step in logged]
    history = [key | value for key, value in zip(keys, values, strict=True)]
    if lengths is not None:
        history += [key | {"metric": "val/sequence_lengths", "value": lengths} for key in keys]
    log = {
        "source_name": log_id,
        "run_id": f"id of {run_name or arm}",
        "producer": "wandb",
        "source_kind": "log",
        "arm_in_path": arm,
    }
    return {
        "history_logs": [log | {"run_name": run_name, "started_at": START, "history_row_count": len(logged)}],
        "landed_sources": [{"source_name": log_id, "path": log_id, "kind": "wandb"}],
        "history_rows": [key | {"record_number": idx, "logged_at": START} for idx, key in enumerate(keys)],
        "history_values": history,
    }


def merged(*parts: dict[str, list[dict]]) -> dict[str, list[dict]]:
    """All rows of all parts."""
    tables: dict[str, list[dict]] = {"tokenizers": [QWEN]}
    for part in parts:
        for name, rows in part.items():
            tables[name] = [*tables.get(name, []), *rows]
    return tables


def findings(turn_models: Models) -> dict[tuple[str, str], str]:
    """Details by (kind, subject)."""
    marts = ("rollout_findings", "turn_findings")
    rows = [row for mart in marts for row in turn_models.rows(f"select kind, subject, detail from {mart}")]
    return {(kind, subject): detail for kind, subject, detail in rows}
