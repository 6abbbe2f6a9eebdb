"""Writes a campaign that trains in rounds, with the facts its people would declare, and the truth."""

import math
from collections import Counter
from datetime import timedelta
from pathlib import Path

from simulate.files import write_csv
from simulate.rounds.candidates import write_candidates
from simulate.rounds.metrics import logged_sample_count, write_metrics
from simulate.rounds.plan import DIAGNOSTIC, REGISTERED, RUN, TRACKER_ID, Shape, begins, shape_of
from simulate.rounds.remains import (
    ATTEMPTS,
    CHAINS,
    EVALUATION,
    HELD_OUT,
    POLICIES,
    RULE,
    SAVED,
    write_evaluation,
    write_saved_steps,
    write_scheduler,
)
from simulate.rounds.teacher import PRICES, standing, write_teacher

THRESHOLDS = {"baseline": 24, "primary": 60}
CANDIDATE = ["run_id", "step", "group_id", "sibling_index", "task", "drop_reason", "is_valid", "outcome"]
CANDIDATE += ["reward_rule", "has_penalty", "reward", "advantage", "is_behavior", "cost_usd"]


WINDOW = [
    "run_id", "window_name", "role", "first_step", "last_step", "expected_candidate_count", "candidate_count",
    "valid_count", "unknown_validity_count", "task_row_count", "valid_fraction", "low", "high", "threshold_valid_count",
    "registered_at", "first_candidate_at", "is_preregistered", "is_complete", "passes", "source",
]  # fmt: skip


def write(folder: Path, scale: str, seed: int) -> None:
    """Write `rounds/<run>/`, `declared/` and `truth/rounds_*.csv`, `truth/teacher_*.csv` below `folder`."""
    write_shape(folder, shape_of(scale), seed)


def write_shape(folder: Path, shape: Shape, seed: int, has_truth: bool = True) -> None:
    """The same for a size of one's own; without the truth, which at a thousand rounds is as large as the campaign."""
    runs = folder / "rounds"
    candidates, figures = write_candidates(runs, shape, seed)
    metrics = write_metrics(runs, shape, seed, figures)
    calls, ledger = write_teacher(runs, shape, seed)
    attempts = write_evaluation(runs, seed)
    events = write_scheduler(runs, shape)
    saved = write_saved_steps(runs, shape, seed)
    _declare(folder / "declared", shape)
    if not has_truth:
        return
    truth = folder / "truth"
    write_csv(truth / "rounds_candidates.csv", CANDIDATE, candidates)
    kept = [dict(zip(CANDIDATE, row, strict=True)) for row in candidates]
    kept = [row for row in kept if row["drop_reason"] is None and row["run_id"] != DIAGNOSTIC]
    _write_counts(truth, kept, shape)
    header = ["run_id", "step", "metric", "value", "file_name"]
    write_csv(truth / "rounds_training_metrics.csv", header, ([RUN, *row] for row in metrics))
    shared = [[RUN, shape.rounds, len(metrics), 0]]
    header = ["run_id", "step_count", "shared_value_count", "disagreement_count"]
    write_csv(truth / "rounds_metric_reconciliation.csv", header, shared)
    counts = [[RUN, shape.system_rows, logged_sample_count(shape), shape.system_events]]
    header = ["run_id", "exported_row_count", "logged_row_count", "server_event_count"]
    write_csv(truth / "rounds_system_metric_counts.csv", header, counts)
    write_csv(truth / "rounds_evaluation_summary.csv", EVALUATION, attempts)
    header = ["capacity_before", "capacity_after", "reason"]
    write_csv(truth / "rounds_scheduler_events.csv", header, events)
    write_csv(truth / "rounds_saved_steps.csv", SAVED, saved)
    header = ["call_id", "run_id", "step", "role", "usage_form", "input_tokens", "cached_input_tokens"]
    header += ["cache_write_tokens", "output_tokens", "reasoning_tokens", "cost_usd", "cost_source"]
    write_csv(truth / "teacher_calls.csv", header, standing(calls))
    write_csv(truth / "teacher_spend.csv", ["step", "role", "cost_usd"], ledger)


def _write_counts(truth: Path, kept: list[dict], shape: Shape) -> None:
    total = Counter((row["run_id"], row["step"], row["task"]) for row in kept)
    valid = Counter((row["run_id"], row["step"], row["task"]) for row in kept if row["is_valid"])
    header = ["run_id", "step", "task", "candidate_count", "valid_count", "unknown_validity_count", "valid_fraction"]
    write_csv(
        truth / "rounds_task_validity.csv",
        header,
        ([*k, count, valid[k], 0, valid[k] / count] for k, count in sorted(total.items())),
    )
    branches = Counter((row["run_id"], row["reward_rule"], row["is_valid"], row["has_penalty"]) for row in kept)
    header = ["run_id", "reward_rule", "is_valid", "has_penalty", "candidate_count"]
    write_csv(truth / "rounds_reward_branches.csv", header, ([*key, count] for key, count in sorted(branches.items())))
    rows = []
    for name, role, first, last in windows(shape):
        inside = [row for row in kept if first <= row["step"] <= last]
        count, tasks = sum(row["is_valid"] for row in inside), len({(row["step"], row["task"]) for row in inside})
        share = [count, 0, tasks, count / len(inside), *wilson(count, len(inside)), THRESHOLDS[name]]
        times = [f"{REGISTERED:%Y-%m-%d %H:%M:%S}", f"{begins(first) + timedelta(minutes=10):%Y-%m-%d %H:%M:%S}"]
        verdict = ["true", "true", str(count >= THRESHOLDS[name]).lower()]
        rows.append([RUN, name, role, first, last, 240, len(inside), *share, *times, *verdict, "run card"])
    write_csv(truth / "rounds_validity_windows.csv", WINDOW, rows)


def windows(shape: Shape) -> list[tuple[str, str, int, int]]:
    """(name, role, first step, last step) of each decision window."""
    return [("baseline", "baseline", 1, 3), ("primary", "primary", shape.rounds - 2, shape.rounds)]


def wilson(count: int, total: int) -> list[float]:
    """The 95% bounds of a share, found by bisection: where the score test of that share just rejects."""
    return [_wilson_low(count, total), 1 - _wilson_low(total - count, total)]


def _wilson_low(count: int, total: int) -> float:
    low, high = 0.0, count / total
    for _ in range(200):
        middle = (low + high) / 2
        is_inside = abs(count / total - middle) <= 1.959963984540054 * math.sqrt(middle * (1 - middle) / total)
        low, high = (low, middle) if is_inside else (middle, high)
    return high


def _declare(folder: Path, shape: Shape) -> None:
    registered = f"{REGISTERED:%Y-%m-%d %H:%M:%S}"
    write_csv(
        folder / "decision_windows.csv",
        [
            "run_id",
            "window_name",
            "role",
            "first_step",
            "last_step",
            "expected_candidate_count",
            "threshold_valid_count",
            "registered_at",
            "source",
        ],
        [[RUN, n, role, a, b, 240, THRESHOLDS[n], registered, "run card"] for n, role, a, b in windows(shape)],
    )
    write_csv(
        folder / "run_aliases.csv",
        ["run_id", "alias_of", "source"],
        [[TRACKER_ID, RUN, "run.json of the W&B export"]],
    )
    note = "Infrastructure checks, not training."
    write_csv(folder / "run_roles.csv", ["run_id", "role", "note"], [["wb-*", "diagnostic", note]])
    header = ["plan_name", "run_id", "policy", "role", "task", "chain_count", "attempts_per_chain", "is_lower_better"]
    write_csv(
        folder / "evaluation_plans.csv",
        [*header, "rule", "registered_at", "source"],
        [
            [
                "held-out",
                RUN,
                policy,
                role,
                task,
                CHAINS,
                ATTEMPTS,
                "true",
                RULE,
                registered,
                "run card",
            ]
            for policy, role in POLICIES
            for task in HELD_OUT
        ],
    )
    header = ["model_pattern", "valid_from", "input_usd_per_million", "cached_input_usd_per_million"]
    header += ["output_usd_per_million", "cache_write_usd_per_million", "cache_write_1h_usd_per_million"]
    header += ["reasoning_usd_per_million", "service_tier", "source"]
    write_csv(folder / "model_prices.csv", header, PRICES)
