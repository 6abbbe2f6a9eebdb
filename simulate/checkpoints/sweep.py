"""The sweep that a simulation plants: which checkpoints were written when, what became of the evidence, what was spent.

Cells and counts are those of a public checkpoint index: 9 cells with 268 checkpoints, and a rerun that was aborted.
"""

import random
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

START = datetime(2026, 8, 3, 6, 0, 0)
ORG = "agentic-ptb"
SPARE = "msr-spare"
"""Where checkpoints were moved that were pruned on the cluster."""
COMPANIONS = {"record": ("RUNLOG.md", "configs/arm.yaml", "configs/rl.yaml"), "data": ("corpus/part-1.txt",)}
"""What lies in each companion of a cell, `<cell>-record` and `<cell>-data`."""
BASE = "Qwen/Qwen3.5-9B-Base"
END_OF_TURN, END_OF_TEXT = 248046, 248044
SUITES = {"agent-tasks": 31.5, "terminal-tasks": 18.25}
"""Suite and the baseline's score on it."""
HARNESS = "pi"


@dataclass(frozen=True)
class Checkpoint:
    """One planted checkpoint. `second` counts from its run's start; `evidence` is how its hour can be told; `place` is
    what is left of it: its `local` folder, a copy in a `spare` repo, a row of a `manifest`, or the archive `log` alone.
    """

    family: str
    step: int
    second: int
    evidence: str = "mtime"
    eos: str = "generation_config"
    place: str = "local"

    @property
    def path(self) -> str:
        return f"{self.family}/{self.step}"

    @property
    def is_known(self) -> bool:
        """Whether its hour can be told at all."""
        return self.evidence != "unrecoverable"

    @property
    def hour(self) -> float | None:
        return self.second / 3600 if self.is_known else None

    @property
    def eos_ok(self) -> bool | None:
        """Whether every server stops at the end of its turns; None where its files do not tell."""
        if self.place == "log":
            return None
        return {"bad": False, "worse": False, "broken": None, "absent": None}.get(self.eos, True)

    @property
    def eos_ok_vllm(self) -> bool | None:
        """Whether vLLM does: it takes the tokenizer's token besides. A manifest tells of no server."""
        return None if self.place in ("log", "manifest") else self.eos != "worse"

    @property
    def eos_token_ids(self) -> list[int] | None:
        """The ids that its files state where transformers looks for them."""
        if self.place == "log":
            return None
        right = [END_OF_TEXT, END_OF_TURN]
        told = {
            "bad": [END_OF_TEXT],
            "worse": [END_OF_TEXT],
            "text_config": [END_OF_TURN],
            "broken": None,
            "absent": None,
        }
        return told.get(self.eos, right)


@dataclass(frozen=True)
class Call:
    """One call of the driving model."""

    second: int
    input_tokens: int
    cached_tokens: int
    output_tokens: int

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens


@dataclass(frozen=True)
class Cell:
    """One planted cell; its sessions are lists of calls in time order."""

    name: str
    driver: str
    effort: str
    log_format: str | None
    run_hours: int
    checkpoints: tuple[Checkpoint, ...]
    submitted: int
    fallback: int | None
    copied_at: int | None
    sessions: tuple[tuple[Call, ...], ...]
    start: datetime
    is_plotted: bool = True
    is_valid: bool = True
    note: str | None = None

    @property
    def is_base(self) -> bool:
        """Whether what it submitted is the base model, unchanged."""
        return self.note is not None and "tensors unchanged" in self.note

    def at(self, second: int) -> datetime:
        return self.start + timedelta(seconds=second)

    def tokens_at(self, checkpoint: Checkpoint) -> int | None:
        """What the driver had spent when the checkpoint was written; None where that can't be known."""
        if not checkpoint.is_known or not self.sessions:
            return None
        return sum(c.tokens for session in self.sessions for c in session if c.second <= checkpoint.second)

    def model_id(self, checkpoint: Checkpoint) -> str:
        """The id it is published by; a manifest was written before the archive log was looked at."""
        is_known = checkpoint.is_known and checkpoint.place != "manifest"
        hour = f"{checkpoint.second // 3600:03d}" if is_known else "NA"
        return f"{ORG}/{self.name}.h{hour}.{checkpoint.family}.{checkpoint.step}"

    def source(self, checkpoint: Checkpoint) -> str:
        """Where it lies, or lay."""
        if checkpoint.place in ("spare", "manifest"):
            return self.spare_id(checkpoint)
        return f"{self.name}/checkpoints/{checkpoint.path}"

    def spare_id(self, checkpoint: Checkpoint) -> str:
        return f"{SPARE}/{self.name}-{checkpoint.family}-{checkpoint.step}"

    def equals_baseline(self, index: int) -> bool | None:
        """Whether its weights are the base's; None where they are gone."""
        gone = self.checkpoints[index].place in ("log", "manifest")
        return None if gone else self.is_base and index == self.submitted

    def role(self, index: int) -> str:
        return {self.submitted: "SUBMITTED", self.fallback: "fallback"}.get(index, "intermediate")


@dataclass(frozen=True)
class _Family:
    """`lost` maps positions in the family to what is left of their evidence, `moved` to where they are; a family on a
    line has no jitter."""

    name: str
    count: int
    lost: dict[int, str]
    on_line: bool = False
    moved: dict[int, str] = field(default_factory=dict)


def _plain(name: str, count: int) -> _Family:
    return _Family(name, count, {})


CODEX, CLAUDE = "Codex / gpt-5.6-sol", "Claude Code / claude-opus-5"

_CELLS: list[tuple] = [
    # name, driver, effort, log format, run hours, families, submitted, fallback, copied at second
    (
        "sol-high", CODEX, "high", "codex", 100,
        [_plain("sft", 20),
         _Family("dpo", 13, dict.fromkeys((2, 5, 8, 12), "extrapolated"), True, {8: "spare", 12: "manifest"}),
         _Family("rl", 24, dict.fromkeys(range(24), "janitor"),
                 moved=dict.fromkeys(range(8, 16), "spare") | dict.fromkeys(range(16, 24), "manifest"))],
        56, 19, 98 * 3600,
    ),
    ("grok", "pi / grok-4.6", "xhigh", "plain", 100, [_plain("sft", 30), _plain("rl", 29)], 58, None, None),
    (
        "dpsk-v4-flash", "pi / DeepSeek v4-flash", "thinking", "plain", 100,
        [_plain("sft", 24), _Family(
            "merge", 16, dict.fromkeys(range(1, 16), "unrecoverable"),
            moved=dict.fromkeys(range(6, 11), "spare") | dict.fromkeys(range(11, 16), "manifest"))],
        10, 3, 300 * 3600,
    ),
    (
        "kimi", "kimi-code / kimi-k3", "high", "plain", 100,
        [_plain("sft", 20), _Family("rl", 18, dict.fromkeys((0, 7, 17), "extrapolated"), True)],
        33, None, 99 * 3600,
    ),
    ("opus-max", CLAUDE, "max", "claude_code", 100, [_plain("sft", 13)], 12, 11, None),
    ("sol-max", CODEX, "max", "codex", 16, [_plain("sft", 13)], 12, None, None),
    ("opus-high-v1", CLAUDE, "high", "claude_code", 100, [_plain("sft", 3)], 2, None, None),
    ("sol-max-opusnode", CODEX, "max", None, 100, [_plain("rl.v2", 9)], 4, None, None),
    ("sol-max-v2", CODEX, "max", "codex", 100, [_plain("sft", 36)], 2, None, None),
    (
        "opus-high-v2", CLAUDE, "high", "claude_code", 20, [_Family("sft", 5, {1: "janitor"}, moved={1: "log"})],
        4, None, None,
    ),
]  # fmt: skip

_NOTES: dict[str, tuple[bool, bool, str]] = {
    "sol-max": (False, True, "Died at hour 16; sol-max-v2 is the redo."),
    "sol-max-opusnode": (False, True, "An extra attempt, not one of the plotted cells."),
    "opus-high-v2": (False, False, "Aborted rerun: submitted the base model's tensors unchanged."),
}


def cells(seed: int, copies: int = 1) -> list[Cell]:
    """The planted cells; further copies of the sweep have `-2`, `-3`, ... at the end of their names."""
    return [_cell(entry, seed, copy, index) for copy in range(1, copies + 1) for index, entry in enumerate(_CELLS)]


def _cell(entry: tuple, seed: int, copy: int, index: int) -> Cell:
    plain_name, driver, effort, log_format, run_hours, families, submitted, fallback, copied_at = entry
    name = plain_name if copy == 1 else f"{plain_name}-{copy}"
    rng = random.Random(f"{seed}:{name}")
    checkpoints = _packaged(plain_name, _checkpoints(families, run_hours, rng))
    is_plotted, is_valid, note = _NOTES.get(plain_name, (True, True, None))
    return Cell(
        name, driver, effort, log_format, run_hours, checkpoints, submitted, fallback, copied_at,
        _sessions(run_hours, rng) if log_format else (),
        START + timedelta(hours=7 * index + 100 * (copy - 1)),
        is_plotted, is_valid, note,
    )  # fmt: skip


def _checkpoints(families: list[_Family], run_hours: int, rng: random.Random) -> list[Checkpoint]:
    """Families one after the other, each step a slot further on; a slot is far longer than a minute."""
    slot = (run_hours - 4) * 3600 // sum(family.count for family in families) // 100 * 100
    found, start = [], 3600
    for family in families:
        for position in range(family.count):
            jitter = 0 if family.on_line else -rng.randrange(slot // 4)
            second = start + slot * (position + 1) + jitter
            evidence = family.lost.get(position, "mtime")
            place = family.moved.get(position, "local")
            found.append(Checkpoint(family.name, 100 * (position + 1), second, evidence, place=place))
        start += slot * family.count
    return found


def _packaged(name: str, checkpoints: list[Checkpoint]) -> tuple[Checkpoint, ...]:
    """How each was packaged: 39 of 57 right in one cell, none of 59 in another, a few that do not tell."""
    eos = ["generation_config"] * len(checkpoints)
    if name == "grok":
        eos = ["worse"] * len(checkpoints)
    elif name == "sol-high":
        eos[:18] = ["bad"] * 18
    elif name == "kimi":
        eos[5], eos[6] = "broken", "absent"
    elif name == "dpsk-v4-flash":
        eos = ["config"] * len(checkpoints)
    elif name == "opus-max":
        eos = ["text_config"] * len(checkpoints)
    return tuple(replace(c, eos=how) for c, how in zip(checkpoints, eos, strict=True))


def _sessions(run_hours: int, rng: random.Random) -> tuple[tuple[Call, ...], ...]:
    """Two sessions, the second begun in the middle of the first."""
    sessions = []
    for first, last in ((0, run_hours * 3600), (run_hours * 1800, run_hours * 3600)):
        calls, second = [], first + 60
        while second < last:
            new, cached = rng.randrange(200, 9_000), rng.randrange(0, 180_000)
            calls.append(Call(second, new + cached, cached, rng.randrange(20, 4_000)))
            second += rng.randrange(1_200, 5_000)
        sessions.append(tuple(calls))
    return tuple(sessions)
