"""An arm as its trainer knows it: a true curve, the launches it took to train it, and which steps were redone.

The true curve is drawn first. Launches then break it up: each starts from scratch or from a checkpoint of an earlier
one, and what it redoes the earlier one loses. Nothing here stitches: a row survives because no later launch redid it.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from itertools import pairwise
from typing import Literal

import numpy as np

MEDIAN_GAP = 1024
FIRST_POSITION = 320
MEDIAN_SHARE = 0.62
"""Share of steps exactly one median gap wide: more than half, so that the median is known without computing it."""


@dataclass(frozen=True)
class Launch:
    """One start of the trainer. Steps are the trainer's own, from 1.

    `parent` is the index of the launch whose checkpoint it loaded, the one written after step `checkpoint` (None and
    0: from scratch); `last_step` is the last it logged, 0 where it died before its first row. `offset` is how much
    later, in median gaps, its first step was counted than by the launch it redid: above 0 the two positions differ a
    little and the earlier one lies below (a seam to collapse), at or below 0 the earlier one is simply rolled back.
    """

    last_step: int
    parent: int | None = None
    checkpoint: int = 0
    offset: float = 0.0
    end: Literal["exit", "killed", "torn"] = "killed"
    joins: Literal["", "run", "log"] = ""
    """Whether it is a run of its own, goes on under the id of the launch before, or in that launch's very log."""
    is_excluded: bool = False
    is_concurrent: bool = False
    """Started while the launch before still ran."""
    repeats_name: bool = False
    """Has the display name of the launch before."""
    rows: Literal["one", "split", "scalar"] = "one"
    """Rows a step: one; the evaluation in a row of its own; one row for each metric."""
    encoding: Literal["nested_key", "key"] = "nested_key"
    kept_as: Literal["log", "export", "both"] = "log"
    """What is left of its history: its log, an exported history, or its log and an early export of it."""
    starts_at: float | None = None
    config: dict = field(default_factory=dict)

    @property
    def first_step(self) -> int:
        return self.checkpoint + 1

    @property
    def steps(self) -> range:
        return range(self.first_step, self.last_step + 1)


@dataclass(frozen=True)
class Start:
    """What a launch is called, and when. Times are seconds since the epoch, UTC."""

    run_id: str
    run_name: str
    log_directory: str
    started_at: float
    ended_at: float


@dataclass(frozen=True)
class Arm:
    """One arm: its launches in the order of their starts, and how it is named, declared and logged."""

    name: str
    launches: tuple[Launch, ...]
    seed: tuple[int, ...] = ()
    expected_step_count: int | None = None
    is_running: bool = False
    named_by: Literal["exp_name", "run_name", "group", "plain_name", "assigned"] = "exp_name"
    position_key: str = "global_step"
    median_gap: int = MEDIAN_GAP
    first_position: int = FIRST_POSITION
    last_position: int | None = None
    gap_ratios: dict[int, float] = field(default_factory=dict)
    """Planted widths, in median gaps, of the gap before a step."""
    unlogged_steps: frozenset[int] = frozenset()
    trainer_step_key: str = ""
    has_oddities: bool = False
    has_setup_rows: bool = False
    started_at: float = 0.0
    seconds_per_step: float = 110.0
    rollouts_per_step: int | None = None
    """Rollouts in a batch, where the arm saves them; None where it does not."""
    config: dict = field(default_factory=dict)
    note: str | None = None

    @cached_property
    def chain(self) -> list[int]:
        """Launches that lead to the arm's last rows, first to last: each resumed from the one before."""
        alive = [i for i, launch in enumerate(self.launches) if launch.steps and not launch.is_excluded]
        chain = alive[-1:]
        while chain and (parent := self.launches[chain[0]].parent) is not None:
            chain.insert(0, parent)
        return chain

    @cached_property
    def true_steps(self) -> range:
        """The trainer's steps of the true curve; unlogged ones are among them."""
        return range(1, (self.launches[self.chain[-1]].last_step if self.chain else 0) + 1)

    @cached_property
    def owner(self) -> dict[int, int]:
        """For each true step the launch whose work on it stands."""
        owners: dict[int, int] = {}
        for i in self.chain:
            owners |= dict.fromkeys(self.launches[i].steps, i)
        return {step: i for step, i in owners.items() if step in self.true_steps}

    @cached_property
    def training_step(self) -> dict[int, int]:
        """Ordinal, from 1, of each true step among those that were logged."""
        logged = [step for step in self.true_steps if step not in self.unlogged_steps]
        return {step: ordinal for ordinal, step in enumerate(logged, 1)}

    @cached_property
    def last_step(self) -> int:
        """The highest step any launch reached."""
        return max((launch.last_step for launch in self.launches), default=0)

    @cached_property
    def true_positions(self) -> dict[int, int]:
        """Position of every step as the standing launches counted it (beyond the true curve: as they would have)."""
        count = max(self.last_step, 1)
        gaps = np.full(count, self.median_gap)
        if self.median_gap > 1:
            rng = np.random.default_rng((*self.seed, 1))
            odd = rng.permutation(np.arange(1, count))[: int((count - 1) * (1 - MEDIAN_SHARE))]
            gaps[odd] += 32 * rng.integers(-18, 26, len(odd))
        for step, ratio in self.gap_ratios.items():
            gaps[step - 1] = round(ratio * self.median_gap)
        gaps[0] = self.first_position
        if self.last_position:
            _reach(gaps, self.last_position, self.median_gap)
        return dict(enumerate(np.cumsum(gaps).tolist(), 1))

    @cached_property
    def positions(self) -> list[dict[int, int]]:
        """For each launch, the position it counted at each of its steps."""
        counted: list[dict[int, int]] = []
        for i, launch in enumerate(self.launches):
            rng = np.random.default_rng((*self.seed, 2, i))
            mine: dict[int, int] = {}
            for step in launch.steps:
                mine[step] = self._position(i, step, mine, counted, rng)
            counted.append(mine)
        return counted

    @cached_property
    def starts(self) -> list[Start]:
        """For each launch, its run and log (shared where it joins the launch before) and its hours."""
        rng = random.Random(f"{self.seed}/starts")
        starts: list[Start] = []
        clock = self.started_at
        for launch in self.launches:
            began = launch.starts_at or clock
            if launch.is_concurrent:
                began = starts[-1].started_at + 5 * self.seconds_per_step
            began = float(round(began))
            ended = began + self.seconds_per_step * (len(launch.steps) + 1)
            run_id = "".join(rng.choices("0123456789abcdefghijklmnopqrstuvwxyz", k=8))
            run_name = f"{self.name}__42__{int(began)}"
            if self.named_by == "group":
                run_name = f"brisk-river-{rng.randrange(10, 99)}"
            elif self.named_by == "plain_name":
                run_name = self.name
            if launch.repeats_name:
                run_name = starts[-1].run_name
            if launch.joins:
                run_id, run_name = starts[-1].run_id, starts[-1].run_name
            directory = f"run-{datetime.fromtimestamp(began, UTC):%Y%m%d_%H%M%S}-{run_id}"
            if launch.joins == "log":
                directory, began = starts[-1].log_directory, starts[-1].ended_at
                ended = began + self.seconds_per_step * len(launch.steps)
            starts.append(Start(run_id, run_name, directory, began, ended))
            clock = max(clock, ended) + rng.randrange(300, 3000)
        return starts

    def logged_at(self, i: int, step: int) -> float:
        """When launch `i` logged `step`."""
        return self.starts[i].started_at + self.seconds_per_step * (step - self.launches[i].first_step + 1)

    def _position(self, i: int, step: int, mine: dict[int, int], counted: list[dict[int, int]], rng) -> int:
        true, launch = self.true_positions, self.launches[i]
        if self.owner.get(step) == i and not launch.is_excluded:
            return true[step]
        heir = self._heir(i)
        if heir is not None and step == self.launches[heir].first_step:
            return true[step] - round(self.launches[heir].offset * self.median_gap)
        if step == launch.first_step:
            if launch.parent is None:
                return true[1]
            before = true if launch.parent in self.chain else counted[launch.parent]
            redone = before.get(step, before[step - 1] + self.median_gap)
            return redone + round(launch.offset * self.median_gap)
        gap = true[step] - true[step - 1]
        if self.median_gap > 1:
            gap = max(gap + 16 * int(rng.integers(-6, 7)), round(0.3 * self.median_gap))
        return mine[step - 1] + gap

    def _heir(self, i: int) -> int | None:
        """The launch of the chain that resumed from launch `i` of the chain."""
        if i not in self.chain[:-1]:
            return None
        return self.chain[self.chain.index(i) + 1]

    def drop_reason(self, i: int, step: int) -> str:
        """Why the row of launch `i` at `step` does not stand; empty where it does."""
        if self.launches[i].is_excluded:
            return "excluded"
        if self.owner.get(step) == i:
            return ""
        if i not in self.chain:
            return "other_lineage"
        later = [self.positions[j][self.launches[j].first_step] for j in self.chain if j > i]
        return "rolled_back" if any(start <= self.positions[i][step] for start in later) else "seam_collapsed"

    def superseded_by(self, i: int, step: int) -> int | None:
        """The launch that redid the work of launch `i` at `step`, where that was lost to the curve."""
        if self.drop_reason(i, step) not in ("rolled_back", "seam_collapsed"):
            return None
        return min(j for j in self.chain if j > i)

    @cached_property
    def lineage_count(self) -> int:
        """Launches with rows that no launch with rows resumed from."""
        alive = {i for i, launch in enumerate(self.launches) if launch.steps and not launch.is_excluded}
        return len(alive - {self.launches[i].parent for i in alive})

    def gap_ratios_before_collapse(self) -> Iterator[tuple[float, bool]]:
        """(gap in median gaps, is planted seam) between neighbours of what was not rolled back."""
        rows = [
            (self.positions[i][step], i, step)
            for i in self.chain
            for step in self.launches[i].steps
            if step not in self.unlogged_steps and self.drop_reason(i, step) in ("", "seam_collapsed")
        ]
        rows.sort()
        for (before, _, earlier_step), (position, _, step) in pairwise(rows):
            yield (position - before) / self.median_gap, step == earlier_step


def _reach(gaps: np.ndarray, last_position: int, median_gap: int) -> None:
    """Stretch the gaps that are not the median so that the last position is `last_position`."""
    free = [k for k in range(1, len(gaps)) if gaps[k] != median_gap]
    short = last_position - int(gaps.sum())
    for n, k in enumerate(free):
        share = short // (len(free) - n)
        gaps[k] += share
        short -= share
        if gaps[k] == median_gap:
            gaps[k] += 1
            short -= 1
