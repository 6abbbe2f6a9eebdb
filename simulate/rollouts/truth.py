"""The truth of simulated rollouts, told by what was planted and by the trainer that threw attempts away."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from simulate.curves.trainer import Arm
from simulate.files import write_csv
from simulate.rollouts.responses import Response

BLOCK_CALL_FRACTION = 0.001
DECLARED = ("hardened-prefilter-dppo-9b", "prefilter-sft8b", "prefilter-2b", "solo")
"""Arms whose model's tool-call tokens are declared."""


def has_metadata(arm: Arm, index: int) -> bool:
    """Whether a launch's metadata was saved: one lost it, so nothing tells its model."""
    return arm.name != "solo" or index != 1


@dataclass
class Rollout:
    """One rollout of launch `index` of an arm at the trainer's `step` (from 1). `call_count` is what it reports."""

    arm: Arm
    index: int
    step: int
    sample_idx: int
    made: Response
    call_count: int | None
    has_logprobs: bool

    @property
    def drop_reason(self) -> str | None:
        """Why it does not count; None where it does."""
        arm = self.arm
        if arm.launches[self.index].is_excluded:
            return "excluded"
        if any(arm.launches[later].first_step <= self.step for later in arm.chain if later > self.index):
            return "rolled_back"
        if self.index not in arm.chain:
            return "other_lineage"
        has_curve = arm.name != "solo" and not arm.unlogged_steps
        return "never_trained" if has_curve and self.step not in arm.true_steps else None


class Truth:
    """Gathers what every rollout and every step must be; `write` puts it below a folder."""

    def __init__(self, arms_without_rollouts: list[str]) -> None:
        self.unreadable: list[tuple[str, int]] = []
        """(shard, line from 1) of what can't be read."""
        self._rollouts: list[list] = []
        self._turns: list[list] = []
        self._findings = {("arm_without_rollouts", arm) for arm in arms_without_rollouts}
        self._steps: dict[int, list[Rollout]] = defaultdict(list)
        self._matches: dict[tuple[str, int], list[bool]] = defaultdict(list)

    def add(self, rollout: Rollout, shard: str, line_number: int) -> None:
        """One rollout and where it was written."""
        made, arm = rollout.made, rollout.arm
        is_declared = arm.name in DECLARED and has_metadata(arm, rollout.index)
        is_split, is_known = rollout.has_logprobs, rollout.has_logprobs and is_declared
        run_name = arm.starts[rollout.index].run_name
        reason = rollout.drop_reason
        split: list[int | None] = [made.assistant_tokens, made.tool_output_tokens]
        split += [made.tool_block_count, made.assistant_segment_count]
        calls: list[int | None] = [made.tool_call_tokens, made.tool_call_span_count, made.unclosed_tool_call_tokens]
        self._rollouts.append(
            [
                *(run_name, rollout.step - 1, rollout.sample_idx, arm.name, reason, len(made.tokens)),
                *(split if is_split else [None] * len(split)),
                *(calls if is_known else [None] * len(calls)),
                *(rollout.call_count, made.finish_reason, shard, line_number),
            ]
        )
        if not is_split:
            self._findings.add(("logprobs_do_not_match_tokens", shard))
        if not is_declared:
            self._findings.add(("unknown_tokenizer", run_name))
        if is_split and rollout.call_count is not None:
            self._matches[run_name, rollout.step].append(made.tool_block_count == rollout.call_count)
        if reason is None:
            self._steps[rollout.step].append(rollout)

    def repeat(self, rollout: Rollout, shard: str) -> None:
        """The record was written again, once as it was and once with another reward."""
        self._findings |= {("repeated_rollouts", shard), ("conflicting_rollouts", shard)}

    def end_arm(self, arm: Arm) -> None:
        """Add up the steps of an arm whose rollouts were all added."""
        self._turns += [_turn(arm, step, rollouts) for step, rollouts in sorted(self._steps.items())]
        self._findings |= set(_findings(arm, self._steps))
        self._findings |= {
            ("request_info_misaligned", run) for (run, _), same in self._matches.items() if sum(same) < 0.5 * len(same)
        }
        self._steps.clear()
        self._matches.clear()

    def write(self, folder: Path) -> None:
        """Write `turns_rollouts.csv`, `turns_arm_turns.csv`, `turns_unreadable.csv` and `turns_findings.csv`."""
        write_csv(
            folder / "turns_rollouts.csv",
            [
                *("run_name", "step_idx", "sample_idx", "arm", "drop_reason", "response_tokens"),
                *("assistant_tokens", "tool_output_tokens", "tool_block_count", "assistant_segment_count"),
                *("tool_call_tokens", "tool_call_span_count", "unclosed_tool_call_tokens"),
                *("call_count", "finish_reason", "shard", "line_number"),
            ],
            self._rollouts,
        )
        write_csv(
            folder / "turns_arm_turns.csv",
            [
                *("arm", "training_step", "step_idx", "n_rollouts", "n_split_rollouts", "response_tokens_total"),
                *("assistant_tokens_total", "assistant_segments_total", "tool_output_tokens_total"),
                *("tool_blocks_total", "num_calls_total", "assistant_tool_call_tokens_total"),
                *("assistant_non_tool_call_tokens_total", "assistant_tool_call_spans_total"),
                *("malformed_tool_call_rollouts", "malformed_stop_rollouts", "unclosed_tool_call_tokens_total"),
            ],
            self._turns,
        )
        write_csv(folder / "turns_unreadable.csv", ["shard", "line_number"], self.unreadable)
        write_csv(folder / "turns_findings.csv", ["kind", "subject"], sorted(self._findings))


def _turn(arm: Arm, step: int, rollouts: list[Rollout]) -> list:
    split = [r for r in rollouts if r.has_logprobs]
    made = [r.made for r in split]
    malformed = [m for m in made if m.unclosed_tool_call_tokens]
    calls: list[int | None] = [
        sum(m.tool_call_tokens for m in made),
        sum(m.assistant_tokens - m.tool_call_tokens for m in made),
        sum(m.tool_call_span_count for m in made),
        len(malformed),
        sum(m.finish_reason == "stop" for m in malformed),
        sum(m.unclosed_tool_call_tokens for m in made),
    ]
    return [
        arm.name,
        step,
        step - 1,
        len(rollouts),
        len(split),
        sum(len(m.tokens) for m in made),
        sum(m.assistant_tokens for m in made),
        sum(m.assistant_segment_count for m in made),
        sum(m.tool_output_tokens for m in made),
        sum(m.tool_block_count for m in made),
        sum(r.call_count or 0 for r in split),
        *(calls if arm.name in DECLARED else [None] * len(calls)),
    ]


def _findings(arm: Arm, steps: dict[int, list[Rollout]]) -> Iterator[tuple[str, str]]:
    if arm.name != "solo" and any(len(rollouts) != arm.rollouts_per_step for rollouts in steps.values()):
        # A lost rollout takes its tokens along: the mean is no longer the one logged.
        yield "batch_size_differs", arm.name
        yield "sequence_lengths_differ", arm.name
    for rollouts in steps.values():
        told = [
            (r.made.tool_block_count, r.call_count) for r in rollouts if r.has_logprobs and r.call_count is not None
        ]
        blocks, calls = sum(found for found, _ in told), sum(reported for _, reported in told)
        if abs(blocks - calls) > BLOCK_CALL_FRACTION * max(blocks, calls):
            yield "blocks_and_calls_differ", arm.name
    lengths = {i: _lineage_length(arm, i) for i, launch in enumerate(arm.launches) if not launch.is_excluded}
    if max(lengths.values()) > lengths[arm.chain[-1]]:
        yield "longer_rollout_lineage_not_chosen", arm.name


def _lineage_length(arm: Arm, index: int | None) -> int:
    """Steps of a launch and of all it resumed from. Steps sampled ahead, as many in each, are left out."""
    length = 0
    while index is not None:
        length += len(arm.launches[index].steps)
        index = arm.launches[index].parent
    return length
