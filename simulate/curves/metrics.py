"""The metrics of a simulated arm: their names and their true values, by step."""

import math

import numpy as np

from simulate.curves.trainer import Arm

ABSENT = object()
"""Not logged at this step: neither null nor NaN."""

DEAD = "objective/verifiable_reward"
HEADLINE = "scores"
SEQUENCE_LENGTHS = "val/sequence_lengths"
EVALUATION = "eval/pass_at_1"
COLLIDING = "val.kl"
MIXED = "env/note"
SETUP = {"setup/vocabulary_tokens": 151_936}
"""What a launch logs once, before its first step and without a position: it belongs to that step."""
COMMON = [
    HEADLINE,
    "batch/percent_solved_mean",
    DEAD,
    SEQUENCE_LENGTHS,
    EVALUATION,
    "loss/policy_avg",
    "loss/ratio_max",
    "objective/kl_avg",
    "policy/entropy_avg",
    "time/trainer_idling",
    "lr",
]
GROUPS = ["actor", "batch", "debug", "env", "loss", "perf", "policy", "time", "tools", "val"]
NAMES = ["advantage", "calls", "clip_fraction", "entropy", "failures", "grad_norm", "kl", "packed", "ratio", "reward"]
TAILS = ["avg", "max", "min", "std"]

EVALUATED_EVERY = 10


def metric_names(count: int) -> list[str]:
    """`count` names, the common ones first."""
    more = [f"{group}/{name}_{tail}" for tail in TAILS for name in NAMES for group in GROUPS]
    return [*COMMON, *(name for name in more if name not in COMMON)][:count]


def sequence_lengths(arm: Arm) -> list[float]:
    """True `val/sequence_lengths` of each step, from step 1: whole numbers, so that any batch can have that mean.

    Far shorter than real ones, so that a batch's rollouts are quickly written and read.
    """
    rng = np.random.default_rng((*arm.seed, 3))
    steps = np.arange(max(arm.last_step, 1))
    return np.round(160 + 0.25 * steps + rng.normal(0, 8, len(steps))).tolist()


def true_values(arm: Arm, names: list[str]) -> dict[str, list]:
    """For each metric its value at each step, from step 1; ABSENT where it is not logged."""
    count = max(arm.last_step, 1)
    rng = np.random.default_rng((*arm.seed, 4))
    level = rng.lognormal(0, 2, len(names))
    drawn = (level[:, None] * (1 + 0.1 * rng.normal(size=(len(names), count)))).tolist()
    values = dict(zip(names, drawn, strict=True))
    progress = 0.15 + 0.6 / (1 + np.exp(-(np.arange(count) / count - 0.4) * 6)) + rng.normal(0, 0.02, count)
    values[HEADLINE] = progress.tolist()
    values["batch/percent_solved_mean"] = (progress * 0.9).tolist()
    values[DEAD] = [0.0] * count
    values[SEQUENCE_LENGTHS] = sequence_lengths(arm)
    values["lr"] = [1e-6] * count
    values[EVALUATION] = [v if (k + 1) % EVALUATED_EVERY == 0 else ABSENT for k, v in enumerate(values[EVALUATION])]
    for k in range(count):
        if k % 17 == 5:
            values["objective/kl_avg"][k] = math.nan
        if k % 19 == 7:
            values["time/trainer_idling"][k] = None
        if k % 23 == 3:
            values["loss/ratio_max"][k] = math.inf if k % 2 else -math.inf
    return values | _oddities(count) if arm.has_oddities else values


def _oddities(count: int) -> dict[str, list]:
    """A key that collides with a nested one, a text among numbers, integers no double holds, a name beyond ASCII, and
    a histogram."""
    steps = range(1, count + 1)
    return {
        COLLIDING: [0.25 * k for k in steps],
        MIXED: ["timeout" if k == 7 else 1.5 * k for k in steps],
        "perf/flops_total": [2**53 + 2 * k + 1 for k in steps],
        "отклик/доля, %": [k / 8 for k in steps],
        "val/lengths": [{"_type": "histogram", "values": [k, 2 * k, 1], "bins": [0, 0.5, 1, 1.5]} for k in steps],
    }


def redone_values(arm: Arm, launch: int, values: dict[str, list], steps: range) -> dict[str, list]:
    """What a launch logged at `steps` whose work did not stand: near the true values, but not them."""
    rng = np.random.default_rng((*arm.seed, 5, launch))
    return {
        name: [
            _near(value, noise) for value, noise in zip(column[steps.start - 1 : steps.stop - 1], drawn, strict=True)
        ]
        for (name, column), drawn in zip(
            values.items(), rng.normal(0, 0.02, (len(values), len(steps))).tolist(), strict=True
        )
    }


def _near(value: object, noise: float) -> object:
    return value * (1 + noise) if type(value) is float and value != 0.0 else value
