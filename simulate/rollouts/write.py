"""Writes the rollout shards of a simulated campaign, its tokenizers, and the truth of every rollout."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from homes.console import progress
from simulate.curves.arms import arms
from simulate.curves.metrics import sequence_lengths
from simulate.curves.trainer import Arm, Launch
from simulate.files import write_csv
from simulate.rollouts.responses import QWEN_3, QWEN_3_5, UNDECLARED, Response, Vocabulary, empty_response, response
from simulate.rollouts.truth import Rollout, Truth, has_metadata

VOCABULARIES = {"prefilter-sft8b": QWEN_3, "seta": UNDECLARED}
SHARD_ROLLOUTS = {"small": 150, "card": 10_000}
"""The trainer starts a new shard after 10,000 rollouts; a small campaign has several all the same."""
SAMPLED_AHEAD = {"small": 2, "card": 0}
"""Steps whose rollouts a trainer has written when it ends, and never trains on."""
MISALIGNED_STEPS = range(5, 10)


def write(folder: Path, scale: str, seed: int) -> None:
    """Write `rollouts/`, `declared/tokenizers.csv` and `truth/turns_*.csv` below `folder`; nothing at scales that are a
    number.

    `bench` writes 200 rollouts of 20,000 tokens and no truth.
    """
    shards = folder / "rollouts"
    if scale == "bench":
        write_bench(shards, 200, seed)
    if scale not in SHARD_ROLLOUTS:
        return
    planned = arms(scale, seed)
    saving = [arm for arm in planned if arm.rollouts_per_step]
    truth = Truth([arm.name for arm in planned if not arm.rollouts_per_step])
    if scale == "small":
        saving.append(_without_wandb(seed))
    for arm in progress(saving, "simulating rollouts"):
        for index, launch in enumerate(arm.launches):
            if launch.steps:
                _write_run(shards, arm, index, scale, truth)
        truth.end_arm(arm)
    truth.write(folder / "truth")
    write_csv(
        folder / "declared" / "tokenizers.csv",
        ["model_pattern", "tool_call_open_id", "tool_call_close_id", "end_of_turn_id", "end_of_turn_token", "source"],
        [
            [pattern, ids.open_id, ids.close_id, ids.end_id, "<|im_end|>", source]
            for pattern, ids, source in (
                ("*Qwen3.5*", QWEN_3_5, "round trip of the tokenizer"),
                ("qwen3_5*", QWEN_3_5, "model_type of the same tokenizer"),
                ("*Qwen3*", QWEN_3, "round trip of the tokenizer"),
            )
        ],
    )


def write_bench(folder: Path, count: int, seed: int) -> None:
    """One shard of `count` rollouts of about 20,000 tokens and 28 tool outputs, as long on disk as real ones."""
    rng = np.random.default_rng((seed, 20_000))
    words = QWEN_3_5
    run_name = "bench__42__1789453662"
    folder.mkdir(parents=True, exist_ok=True)
    _write_metadata(folder, run_name, words, 1_789_453_662.0)
    with open(_shard_path(folder, run_name, 0), "w", encoding="utf-8") as shard:
        for n in range(count):
            made = response(rng, words, int(rng.integers(18_000, 22_000)), 28, 0.3, decimals=None)
            shard.write(_line(rng, words, n // 256, n % 256, made, made.call_count, 1_000, "out put\n" * 1_500))


def _without_wandb(seed: int) -> Arm:
    """An arm that no W&B run tells of: crashed, relaunched from scratch to no avail, then resumed."""
    launches = (Launch(8), Launch(2), Launch(14, 0, 6))
    return Arm("solo", launches, seed=(seed, 1_000), started_at=1_789_300_000.0, rollouts_per_step=4)


def _write_run(folder: Path, arm: Arm, index: int, scale: str, truth: Truth) -> None:
    """The metadata and shards of one launch; the last ends in a torn line where the launch was killed."""
    words = VOCABULARIES.get(arm.name, QWEN_3_5)
    start = arm.starts[index]
    folder.mkdir(parents=True, exist_ok=True)
    is_odd = scale == "small" and arm.name.startswith("hardened") and index == 0
    if has_metadata(arm, index):
        _write_metadata(folder, start.run_name, words, start.started_at)
    written = line_number = 0
    path = _shard_path(folder, start.run_name, 0)
    shard = open(path, "w", encoding="utf-8")  # noqa: SIM115 - closed when the next one opens
    rng = np.random.default_rng((*arm.seed, 7, index))
    last = arm.launches[index].last_step + SAMPLED_AHEAD[scale]
    for step in range(arm.launches[index].first_step, last + 1):
        for rollout, line in _batch(rng, arm, index, step, words, is_odd):
            if written and written % SHARD_ROLLOUTS[scale] == 0:
                shard.close()
                path = _shard_path(folder, start.run_name, written // SHARD_ROLLOUTS[scale])
                shard = open(path, "w", encoding="utf-8")  # noqa: SIM115 - closed when the next one opens
                line_number = 0
            shard.write(line)
            line_number += 1
            written += 1
            truth.add(rollout, path.name, line_number)
    if is_odd:
        repeated = json.loads(line)
        shard.write(line + json.dumps(repeated | {"reward": repeated["reward"] + 1}) + "\n")
        shard.write("\0" * 64 + "\n" + json.dumps([1, 2]) + "\n")
        truth.repeat(rollout, path.name)
        truth.unreadable += [(path.name, line_number + 3), (path.name, line_number + 4)]
        line_number += 4
    if arm.launches[index].end != "exit":
        shard.write(line[: len(line) * 2 // 3])
        truth.unreadable.append((path.name, line_number + 1))
    shard.close()


def _shard_path(folder: Path, run_name: str, number: int) -> Path:
    return folder / f"{run_name}_rollouts_{number:06d}.jsonl"


def _batch(
    rng: np.random.Generator, arm: Arm, index: int, step: int, words: Vocabulary, is_odd: bool
) -> Iterator[tuple[Rollout, str]]:
    """The rollouts of one step with their lines: as many as the arm's batch, of the mean length that its curve logs."""
    launch, count = arm.launches[index], arm.rollouts_per_step
    if count is None:
        raise ValueError(f"{arm.name} saves no rollouts")
    mean = sequence_lengths(arm)[min(step, arm.last_step) - 1]
    has_empty = is_odd and step == 7
    lengths = _lengths(rng, count, int(mean) * count, has_empty)
    rate = 0.05 + 0.8 / (1 + np.exp(-12 * (step / arm.true_steps.stop - 0.7)))
    made = []
    for length in lengths:
        call_count = 0 if launch.is_excluded else int(rng.integers(1, 5))
        made.append(response(rng, words, length, call_count, rate) if length > 1 else empty_response(words))
        if launch.is_excluded and not made[-1].tool_call_span_count:
            made[-1] = response(rng, words, length, 0, 1.0)
    calls = [one.call_count for one in made]
    if arm.name == "seta" and index == 2 and step in MISALIGNED_STEPS:
        # The batch lost its first response but not its first request: each report belongs to the rollout after it.
        calls = [calls[-1] + 1, *calls[:-1]]
    for sample, one in enumerate(made):
        if arm.name == "prefilter-2b" and step == 3 and sample == 1:
            continue
        line = _line(rng, words, step - 1, sample, one, calls[sample], 40, "ok\n", is_odd)
        fields = json.loads(line)
        has_logprobs = len(fields["logprobs"] or ()) == len(one.tokens)
        rollout = Rollout(arm, index, step, sample, one, fields["request_info"].get("num_calls"), has_logprobs)
        yield rollout, line


def _lengths(rng: np.random.Generator, count: int, total: int, has_empty: bool) -> list[int]:
    """Lengths that add up to `total`; the third is 1 where the batch has an empty response."""
    mean = total // count
    lengths = rng.integers(int(mean * 0.7), int(mean * 1.3) + 1, count)
    if has_empty:
        lengths[2] = 1
    short = total - int(lengths.sum())
    lengths[0] += short % count if not has_empty else short
    if not has_empty:
        lengths += short // count
    return lengths.tolist()


def _line(
    rng: np.random.Generator,
    words: Vocabulary,
    step_idx: int,
    sample_idx: int,
    made: Response,
    call_count: int,
    prompt_tokens: int,
    tool_output: str,
    is_odd: bool = False,
) -> str:
    """The record as the trainer writes it. An odd run has records that need a tolerant reader, or lack something."""
    info = {
        "num_calls": call_count,
        "timeouts": 0,
        "tool_errors": "",
        "tool_outputs": tool_output,
        "tool_runtimes": round(0.2 * call_count, 1),
        "tool_calleds": call_count > 0,
        "tool_call_stats": [],
        "rollout_state": {"done": True, "step_count": call_count, "info": {}},
    }
    record = {
        "step": step_idx,
        "sample_idx": sample_idx,
        "prompt_idx": sample_idx // 4,
        "prompt_tokens": rng.integers(0, words.size, prompt_tokens).tolist(),
        "response_tokens": made.tokens,
        "reward": float(rng.random() < 0.4),
        "advantage": round(float(rng.normal()), 4),
        "finish_reason": made.finish_reason,
        "dataset": "swe_prefilter",
        "ground_truth": "tests pass",
        "request_info": info,
        "logprobs": made.logprobs,
    }
    if is_odd:
        record |= _oddity(step_idx + 1, sample_idx, record)
    return json.dumps(record) + "\n"


def _oddity(step: int, sample_idx: int, record: dict) -> dict:
    """What is other than usual in a record of the odd run."""
    odd = {
        (4, 1): {"logprobs": None},
        (4, 5): {"logprobs": record["logprobs"][:-3]},
        (6, 0): {"reward": float("nan")},
        (6, 1): {"ground_truth": "half a pair: \ud83d"},
        (6, 2): {"ground_truth": 10**40},
        (8, 0): {"request_info": {}},
    }
    return odd.get((step, sample_idx), {})


def _write_metadata(folder: Path, run_name: str, words: Vocabulary, started_at: float) -> None:
    metadata = {
        "run_name": run_name,
        "git_commit": "3f2a9c1d",
        "model_name": words.model_name,
        "timestamp": datetime.fromtimestamp(started_at + 40, UTC).isoformat(),
    }
    (folder / f"{run_name}_metadata.jsonl").write_text(json.dumps(metadata) + "\n", encoding="utf-8")
