"""The candidates of a simulated campaign in rounds, and what its trainer knows of them."""

import hashlib
import random
from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

from simulate.rounds.plan import (
    DIAGNOSTIC,
    INTERRUPTED_COUNT,
    INTERRUPTED_STEP,
    OUTCOMES,
    RUN,
    SIBLINGS,
    TASKS,
    Shape,
    begins,
    valid_count,
    write_lines,
)


def write_candidates(folder: Path, shape: Shape, seed: int) -> tuple[list[list], dict[int, dict]]:
    """Write every round_<N>/ of the run and one of a diagnostic run.

    Returns the truth of each line (run, step, group, sibling, drop reason, valid, outcome, rule, penalty, reward,
    advantage, selected, cost), and of each step the trainer's own figures.
    """
    rng = random.Random(f"candidates/{seed}")
    text = "".join(rng.choice("etaoin shrdlu\n") for _ in range(shape.text_bytes + 4096))
    states: dict[str, dict] = {task: {"score": None, "outcome": "seeded"} for task in TASKS}
    truth, figures = [], {}
    tree = folder / RUN / "rollout" / RUN
    for step in range(1, shape.rounds + 1):
        before = dict(states)
        rows = list(_round(rng, shape, RUN, step, states, text))
        lines = [_known(row) for row in rows]
        if step == INTERRUPTED_STEP:
            cut = list(_round(rng, shape, RUN, step, dict(before), text))[:INTERRUPTED_COUNT]
            write_lines(tree / f"round_{step}.attempt1" / "siblings.jsonl", cut, '{"run_id": "ropd-sim-wide", "st')
            truth += [_known(row, "interrupted_attempt") for row in cut]
        if step == 4:
            stale = rows[3] | {"valid": not rows[3]["valid"], "reward": 0.5}
            rows.insert(0, stale)
            truth.append(_known(stale, "duplicate"))
        write_lines(tree / f"round_{step}" / "siblings.jsonl", rows)
        truth += lines
        figures[step] = _figures(rows[1:] if step == 4 else rows)
    rows = list(_round(rng, shape, DIAGNOSTIC, 1, dict(states), text))[:SIBLINGS]
    write_lines(folder / DIAGNOSTIC / "rollout" / DIAGNOSTIC / "round_1" / "siblings.jsonl", rows)
    truth += [_known(row) for row in rows]
    return truth, figures


def _round(rng: random.Random, shape: Shape, run: str, step: int, states: dict[str, dict], text: str) -> Iterator[dict]:
    """The candidates of one round. `states` holds each task's state and moves on."""
    count = valid_count(shape, step)
    is_valid = [True] * count + [False] * (len(TASKS) * SIBLINGS - count)
    rng.shuffle(is_valid)
    for place, task in enumerate(TASKS):
        group = is_valid[place * SIBLINGS : (place + 1) * SIBLINGS]
        yield from _group(rng, shape, run, step, task, group, states, text)


def _group(
    rng: random.Random,
    shape: Shape,
    run: str,
    step: int,
    task: str,
    valids: list[bool],
    states: dict[str, dict],
    text: str,
) -> list[dict]:
    parent = states[task]
    rewards: list[float] = []
    rows: list[dict] = []
    selected = rng.randrange(SIBLINGS)
    action = "advance" if valids[selected] or rng.random() < 0.3 else rng.choice(["keep", "debug"])
    for sibling, is_valid in enumerate(valids):
        start = rng.randrange(4096)
        rule, penalty, reward = _reward(rng, is_valid)
        rewards.append(reward)
        outcome = "ok" if is_valid else rng.choice(OUTCOMES)
        score = round(rng.uniform(0.2, 0.9), 6) if is_valid else None
        costs: dict[str, float | None] = {
            role: round(rng.uniform(0.0001, 0.02), 6) for role in ("reference", "rubric", "verifier")
        }
        if rng.random() < 0.05:
            costs["verifier"] = None
        known = [cost for cost in costs.values() if cost is not None]
        rows.append(
            {
                "run_id": run,
                "step": step,
                "round": step,
                "global_step": step,
                "task": task,
                "chain": 0,
                "unit": f"{task}/0",
                "group_id": f"r{step}-{task}",
                "sibling_index": sibling,
                "is_behavior": sibling == selected,
                "behavior_index": selected,
                "behavior_action": action,
                "prompt_sha256": hashlib.sha256(f"{step}{task}".encode()).hexdigest(),
                "code_sha256": hashlib.sha256(text[start : start + 40].encode()).hexdigest(),
                "created_at": (begins(step) + timedelta(minutes=10 + sibling)).isoformat(),
                "response_text": text[start : start + shape.text_bytes],
                "response_logprobs": [round(-rng.random(), 4) for _ in range(8)],
                "response_token_ids": [rng.randrange(248_000) for _ in range(8)],
                "valid": is_valid,
                "result": {"score": score, "outcome": outcome, "error": None if is_valid else "see log"},
                "parent_result": parent,
                "anchor_result_before": parent,
                "better_than_anchor_before": score is not None and score > (parent["score"] or 0),
                "debug_streak": rng.randrange(3),
                "ropd_q": round(rng.random(), 6),
                "group_mean_q": 0.5,
                "reward": reward,
                "reward_rule": rule,
                "penalty": penalty,
                "teacher_calls": 6,
                "cost_usd": sum(known) if len(known) == len(costs) else None,
                "cost_by_role": costs,
                "policy_before": {"served_policy_id": f"policy-{step - 1}"},
                "verdict_row": {"verdict": "pass" if is_valid else "fail", "input_ids": [1, 2, 3]},
            }
        )
    mean = sum(rewards) / len(rewards)
    for row in rows:
        row |= {"grpo_reward_mean": mean, "advantage": row["reward"] - mean}
    if action == "advance":
        chosen = rows[selected]["result"]
        states[task] = {"score": chosen["score"], "outcome": chosen["outcome"]}
    return rows


def _reward(rng: random.Random, is_valid: bool) -> tuple[str, bool | float, float]:
    """(rule, penalty, reward): a penalty is written as true or false, or as a number."""
    if is_valid:
        return "execution_and_q", rng.choice([False, 0.0]), round(rng.uniform(0.3, 1.0), 6)
    if rng.random() < 0.3:
        return "invalid_penalized", rng.choice([True, 0.25]), round(rng.uniform(-0.5, 0.0), 6)
    return "q_only", rng.choice([False, 0]), round(rng.uniform(0.0, 0.3), 6)


def _known(row: dict, drop_reason: str | None = None) -> list:
    keys = ("run_id", "step", "group_id", "sibling_index", "task")
    return [
        *(row[key] for key in keys),
        drop_reason,
        row["valid"],
        row["result"]["outcome"],
        row["reward_rule"],
        bool(row["penalty"]),
        row["reward"],
        row["advantage"],
        row["is_behavior"],
        row["cost_usd"],
    ]


def _figures(rows: list[dict]) -> dict[str, float]:
    """The trainer's own `ours_env/*` figures of a round."""
    selected = [row for row in rows if row["is_behavior"]]
    improved = sum(row["better_than_anchor_before"] for row in rows)
    outcomes = Counter(row["result"]["outcome"] for row in rows)
    return {
        "ours_env/valid_rate": sum(row["valid"] for row in rows) / len(rows),
        "ours_env/candidate_anchor_improved": improved,
        "ours_env/candidate_anchor_improved_rate": improved / len(rows),
        "ours_env/behavior_advance_rate": sum(r["behavior_action"] == "advance" for r in selected) / len(selected),
        **{f"ours_env/outcome/{name}": outcomes[name] for name in ("ok", *OUTCOMES)},
    }
