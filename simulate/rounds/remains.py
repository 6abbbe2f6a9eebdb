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
RANK, ALPHA = 32, 64
BASE = "Qwen/Qwen3.5-9B-Base"
WITHOUT_STATE = 7


def write_evaluation(folder: Path, seed: int) -> list[list]:
    """Write `eval_<policy>.json`. Returns the truth: (policy, task, attempts, valid, lowest valid score)."""
    rng = random.Random(f"evaluation/{seed}")
    truth = []
    for policy, _ in POLICIES:
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
            truth.append([policy, task, len(valids), count, min(s for s in scores if s is not None)])
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
    """Write `checkpoints/global_step_<N>/`. Returns the truth: (step, adapter's SHA-256, has a task state)."""
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
        truth.append([step, hashlib.sha256(weights).hexdigest(), step != WITHOUT_STATE])
    return truth
