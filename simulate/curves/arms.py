"""The arms of a simulated campaign at each scale: who crashed when, and what was resumed from where."""

from dataclasses import replace
from datetime import UTC, datetime

import numpy as np

from simulate.curves.trainer import Arm, Launch

PARSER_FIXED_AT = datetime(2026, 9, 22, 20, 14, tzinfo=UTC)
"""Runs of the sft8b arm before this moment used the wrong tool parser: the campaign excludes them."""

CAMPAIGN_START = 1_789_200_000.0
"""2026-09-12 08:00 UTC."""

PACK_LENGTH = {"pack_length": 40960, "response_length": 38912}
HERMES = {"tool_parser_type": "vllm_hermes"}


def arms(scale: str, seed: int) -> list[Arm]:
    """The arms of a scale: `small`, `card`, or a number of arms."""
    if scale == "small":
        return _small(seed)
    if scale == "card":
        return _card(seed)
    return [_any(seed, index) for index in range(int(scale))]


def metric_count(scale: str) -> int:
    """How many metrics a step has, the position aside."""
    return {"small": 14, "card": 149}.get(scale, 39)


def _small(seed: int) -> list[Arm]:
    after_fix = PARSER_FIXED_AT.timestamp() + 1020
    planted = [
        # Two crashes; at the first resume a step redone a few episodes later survives truncation and must collapse.
        Arm(
            "prefilter-4b",
            (Launch(17), Launch(27, 0, 12, offset=60 / 1024), Launch(40, 1, 24, offset=-0.02, end="exit")),
            gap_ratios={33: 0.1875},
        ),
        # Crash loops, a relaunch from scratch that died early, a run without a row, a torn log; still training.
        Arm(
            "prefilter-27b",
            (
                Launch(9),
                Launch(0, 0, 6),
                Launch(7, 0, 6, offset=0.03),
                Launch(18, 0, 6, offset=0.02, end="torn"),
                Launch(3),
                Launch(22, 3, 15, config={"pool_size": 128}),
                Launch(29, 5, 20, joins="run", config={"pool_size": 128}, offset=0.04),
                Launch(31, 6, 28, repeats_name=True),
            ),
            is_running=True,
        ),
        Arm(
            "prefilter-sft8b",
            (
                Launch(12, is_excluded=True, config={"tool_parser_type": "vllm_qwen3_xml"}),
                Launch(20, starts_at=after_fix),
                Launch(33, 1, 18),
            ),
            is_running=True,
            config=HERMES | PACK_LENGTH,
            started_at=PARSER_FIXED_AT.timestamp() - 7200,
            rollouts_per_step=8,
        ),
        Arm(
            "hardened-prefilter-dppo-9b",
            (Launch(30), Launch(40, 0, 20, end="exit")),
            started_at=1_789_453_662.0,
            seconds_per_step=240.0,
            rollouts_per_step=16,
        ),
        # Relaunched from scratch: the curve is the newer, shorter lineage, and a finding says so. One run was also
        # exported while it ran.
        Arm(
            "seta",
            (Launch(22, kept_as="both"), Launch(38, 0, 20), Launch(20), Launch(30, 2, 16, offset=0.05)),
            is_running=True,
            rollouts_per_step=8,
        ),
        # TensorBoard sync: one scalar a row, old key encoding, the arm only in the run's name.
        Arm(
            "facet",
            (
                Launch(14, rows="scalar", encoding="key"),
                Launch(40, 0, 10, rows="split", encoding="key", end="exit"),
            ),
            named_by="run_name",
        ),
        Arm(
            "../north star/π ☃",
            (Launch(12), Launch(24, 0, 10, end="exit")),
            expected_step_count=24,
            has_oddities=True,
            has_setup_rows=True,
        ),
        # A script's default name shared by two jobs that ran at the same time.
        Arm(
            "grpo",
            (Launch(16), Launch(25, is_concurrent=True, end="exit")),
            named_by="group",
            expected_step_count=25,
        ),
        # verl: the position is the step; the trainer went back inside one process; its last run is an export alone.
        Arm(
            "verl-grpo-7b",
            (Launch(20), Launch(30, 0, 15, joins="log"), Launch(40, 1, 28, end="exit", kept_as="export")),
            position_key="training/global_step",
            median_gap=1,
            first_position=1,
            named_by="plain_name",
        ),
        # Steps 15 to 20 were never logged: the curve has a hole, and its ordinals part from the trainer's.
        Arm(
            "prefilter-2b",
            (Launch(40, end="exit"),),
            unlogged_steps=frozenset(range(15, 21)),
            rollouts_per_step=4,
            trainer_step_key="training_step",
            gap_ratios=dict.fromkeys(range(14, 23), 1.0),
        ),
        # A legitimate step inside the guard band of the seam ratio, between the last checkpoint and its resume.
        Arm(
            "prefilter-9b",
            (Launch(24), Launch(40, 0, 24, end="exit")),
            gap_ratios={25: 0.125},
            named_by="assigned",
        ),
        Arm("prefilter-35b", (Launch(0),)),
    ]
    return _placed(planted, seed, expected_step_count=40)


def _card(seed: int) -> list[Arm]:
    planted = [
        Arm(
            "hardened-prefilter-dppo-9b",
            (Launch(370), Launch(500, 0, 360, end="exit")),
            started_at=1_789_453_662.0,
            seconds_per_step=240.0,
            rollouts_per_step=256,
        ),
        Arm(
            "hardened-prefilter-dppo-4b",
            (
                Launch(143, end="torn"),
                Launch(322, 0, 140, offset=0.03),
                Launch(500, 1, 320, offset=-0.02, end="exit"),
            ),
        ),
        Arm(
            "hardened-prefilter-4b",
            (Launch(261), Launch(377, 0, 260, offset=0.045), Launch(500, 1, 360, end="exit")),
            trainer_step_key="training_step",
        ),
        # One of its runs was resumed under its own id: five runs, six logs.
        Arm(
            "hardened-prefilter-9b",
            (
                Launch(88),
                Launch(190, 0, 80, offset=0.02),
                Launch(260, 1, 180, joins="run"),
                Launch(341, 2, 260),
                Launch(420, 3, 340, offset=0.01, end="torn"),
                Launch(500, 4, 400, end="exit"),
            ),
        ),
        # Exact-key dedupe would leave 523 steps: 11 and 12 steps redone at other episode counts.
        Arm(
            "prefilter-4b",
            (
                Launch(131),
                Launch(252, 0, 120, offset=-0.03),
                Launch(400, 1, 240, offset=-0.04),
                Launch(500, 2, 400, end="exit"),
            ),
            gap_ratios={311: 0.1875},
        ),
        Arm(
            "prefilter-9b",
            (
                Launch(57),
                Launch(0, 0, 40),
                Launch(300, 0, 40, offset=0.02, repeats_name=True),
                Launch(500, 2, 280, end="exit"),
            ),
            has_setup_rows=True,
        ),
        # A relaunch from scratch died early between a crash and its resume.
        Arm(
            "prefilter-dppo-4b",
            (
                Launch(150),
                Launch(307, 0, 140),
                Launch(4),
                Launch(411, 1, 280, offset=0.04),
                Launch(500, 3, 400, end="exit"),
            ),
        ),
        Arm(
            "prefilter-dppo-9b",
            (Launch(220), Launch(444, 0, 220), Launch(500, 1, 440, offset=0.015, end="exit")),
            named_by="group",
        ),
        # The widest duplicate: 60 episodes apart where a step is 1,024.
        Arm(
            "seta",
            (Launch(200), Launch(341, 0, 180), Launch(500, 1, 340, offset=60 / 1024, end="exit")),
        ),
        Arm(
            "facet",
            (
                Launch(110, rows="scalar", encoding="key"),
                Launch(290, 0, 100, encoding="key", rows="split", offset=-0.01),
                Launch(500, 1, 280, encoding="key", end="exit"),
            ),
            named_by="run_name",
            last_position=556_864,
        ),
        Arm("prefilter-27b", _crashing_27b(), is_running=True, config={"pool_size": 256}),
        # Replaced a longer lineage by a relaunch from scratch.
        Arm(
            "prefilter-2b",
            (Launch(180), Launch(310, 0, 160), Launch(120), Launch(231, 2, 100, offset=0.03)),
            is_running=True,
            started_at=1_789_900_000.0,
        ),
        Arm(
            "prefilter-sft8b",
            (
                Launch(60, is_excluded=True, config={"tool_parser_type": "vllm_qwen3_xml"}),
                Launch(95, 0, 40, is_excluded=True, config={"tool_parser_type": "vllm_qwen3_xml"}),
                Launch(150, starts_at=PARSER_FIXED_AT.timestamp() + 1020),
                Launch(262, 2, 140, offset=0.01),
            ),
            is_running=True,
            config=HERMES | PACK_LENGTH,
            started_at=PARSER_FIXED_AT.timestamp() - 86_400,
        ),
    ]
    return _placed(planted, seed, expected_step_count=500)


def _crashing_27b() -> tuple[Launch, ...]:
    """Seventeen runs, six of them dead ends."""
    return (
        Launch(37),
        Launch(64, 0, 20, offset=0.04),
        Launch(0, 1, 60),
        Launch(61, 1, 60, offset=0.02),
        Launch(97, 1, 60, offset=0.01),
        Launch(3),
        Launch(133, 4, 80),
        Launch(171, 6, 120, offset=-0.02),
        Launch(163, 7, 160, offset=0.03),
        Launch(212, 7, 140, offset=0.05),
        Launch(245, 9, 200, end="torn"),
        Launch(242, 10, 240, offset=0.05),
        Launch(241, 10, 240, offset=0.04),
        Launch(290, 10, 240, offset=0.03),
        Launch(301, 13, 280),
        Launch(344, 14, 300, offset=0.02, config={"pool_size": 768}),
        Launch(388, 15, 340),
    )


def _any(seed: int, index: int) -> Arm:
    """An arm of 450 steps in five runs, for scales that are a number."""
    rng = np.random.default_rng((seed, index, 0))
    launches = [Launch(int(rng.integers(60, 110)))]
    for run in range(1, 5):
        before = launches[-1]
        checkpoint = before.last_step - int(rng.integers(0, 9))
        last = 450 if run == 4 else checkpoint + int(rng.integers(70, 100))
        offset = float(rng.choice([-0.03, 0.0, 0.02, 0.05]))
        launches.append(Launch(last, run - 1, checkpoint, offset=offset, end="exit" if run == 4 else "killed"))
    return Arm(
        f"arm-{index:04d}",
        tuple(launches),
        seed=(seed, index),
        expected_step_count=450,
        started_at=1_788_200_000.0 + 977 * index,
    )


def _placed(planted: list[Arm], seed: int, expected_step_count: int) -> list[Arm]:
    """The arms, each with its own seed and, where it has none, a start a while after the one before and a length."""
    return [
        replace(
            arm,
            seed=(seed, index),
            started_at=arm.started_at or CAMPAIGN_START + 5_400 * index,
            expected_step_count=arm.expected_step_count or (expected_step_count if arm.true_steps else None),
        )
        for index, arm in enumerate(planted)
    ]
