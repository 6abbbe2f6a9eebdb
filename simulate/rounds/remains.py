"""What else a simulated campaign in rounds leaves: held-out attempts, scheduler events, saved steps."""

import hashlib
import random
from datetime import timedelta
from pathlib import Path

from simulate.files import safetensors
from simulate.rounds.plan import RUN, Shape, begins, write_json, write_lines

POLICIES = (("sft", "baseline"), ("step_9", "candidate"))
HELD_OUT = ("spooky-author-identification", "dogs-vs-cats-redux-kernels-edition")
CHAINS, ATTEMPTS = 2, 4
VALID_ATTEMPTS = {"sft": (3, 2), "step_9": (6, 4)}
"""Valid attempts of each policy on each held-out task, of eight."""
RULE = "more_valid_attempts"
EVALUATION = [
    "plan_name", "run_id", "policy", "role", "task", "expected_attempt_count", "attempt_count", "valid_count",
    "is_complete", "best_score", "final_valid_count", "final_score", "rule",
]  # fmt: skip
SAVED = [
    "run_id", "step", "has_adapter", "adapter_sha256", "lora_rank", "lora_alpha", "has_adapter_config",
    "has_task_state", "missing_parts", "file_count", "size_bytes", "is_diagnostic",
]  # fmt: skip
RANK, ALPHA = 32, 64
BASE = "Qwen/Qwen3.5-9B-Base"
WITHOUT_STATE = 7


def write_evaluation(folder: Path, seed: int) -> list[list]:
    """Write `eval_<policy>.json`. Returns the truth of each policy and task, in the columns of EVALUATION."""
    rng = random.Random(f"evaluation/{seed}")
    truth = []
    for policy, role in POLICIES:
        entries = []
        for task, count in zip(HELD_OUT, VALID_ATTEMPTS[policy], strict=True):
            valids = [True] * count + [False] * (CHAINS * ATTEMPTS - count)
            rng.shuffle(valids)
            scores = [round(rng.uniform(0.1, 0.9), 6) if valid else None for valid in valids]
            for place, (valid, score) in enumerate(zip(valids, scores, strict=True)):
                entries.append(
                    {
                        "policy": policy,
                        "task": task,
                        "chain": place // ATTEMPTS,
                        "attempt": place % ATTEMPTS,
                        "valid": valid,
                        "score": score,
                        "outcome": "ok" if valid else "error",
                    }
                )
            last = [score for score in scores[ATTEMPTS - 1 :: ATTEMPTS] if score is not None]
            best = min(score for score in scores if score is not None)
            final = [len(last), sum(last) / len(last) if last else None]
            planned = CHAINS * ATTEMPTS
            truth.append(["held-out", RUN, policy, role, task, planned, len(valids), count, "true", best, *final, RULE])
        write_json(folder / RUN / f"eval_{policy}.json", entries)
    return truth


def write_scheduler(folder: Path, shape: Shape) -> list[list]:
    """Write `scheduler_events.jsonl`. Returns the truth: (capacity before, after, reason)."""
    rows, capacity = [], 8
    for step in range(1, shape.rounds + 1):
        after = capacity + (2 if step % 3 else -4)
        rows.append(
            {
                "time": (begins(step) + timedelta(minutes=20)).timestamp(),
                "capacity_before": capacity,
                "capacity_after": after,
                "active_jobs": capacity,
                "waiting": step,
                "p90_wait_s": 12.5,
                "mem_frac_max": 0.5,
                "load1": 3.25,
                "reason": "headroom" if step % 3 else "memory",
            }
        )
        capacity = after
    write_lines(folder / RUN / "logs" / "scheduler_events.jsonl", rows)
    return [[row["capacity_before"], row["capacity_after"], row["reason"]] for row in rows]


def write_saved_steps(folder: Path, shape: Shape, seed: int) -> list[list]:
    """Write `checkpoints/global_step_<N>/`. Returns the truth of each step, in the columns of SAVED."""
    rng = random.Random(f"saved/{seed}")
    truth = []
    for step in range(1, min(shape.rounds, 9) + 1):
        place = folder / RUN / "checkpoints" / f"global_step_{step}"
        config = {"r": RANK, "lora_alpha": ALPHA, "base_model_name_or_path": BASE}
        write_json(place / "lora_adapter" / "adapter_config.json", config)
        weights = safetensors({"lora_A": rng.randbytes(1024), "lora_B": rng.randbytes(1024)})
        (place / "lora_adapter" / "adapter_model.safetensors").write_bytes(weights)
        write_json(place / "tokenizer.json", {"version": "1.0"})
        (place / "optim_world_size_1_rank_0.pt").write_bytes(rng.randbytes(512))
        if step != WITHOUT_STATE:
            write_json(place / "task_states" / "state_0.json", {"step": step})
        missing = "task_state" if step == WITHOUT_STATE else None
        sizes = [path.stat().st_size for path in place.rglob("*") if path.is_file()]
        adapter = ["true", hashlib.sha256(weights).hexdigest(), RANK, ALPHA, "true"]
        has_state = str(step != WITHOUT_STATE).lower()
        truth.append([RUN, step, *adapter, has_state, missing, len(sizes), sum(sizes), "false"])
    return truth
