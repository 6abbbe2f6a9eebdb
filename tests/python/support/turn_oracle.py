"""What turns are, token by token and run by run, in plain Python: the oracle of the turn models."""

from collections import defaultdict
from dataclasses import dataclass, field


@dataclass
class Split:
    """One response, taken apart."""

    assistant: int = 0
    inserted: int = 0
    blocks: int = 0
    segments: int = 0
    in_calls: int = 0
    spans: int = 0
    unclosed: int = 0


def split(tokens: list[int], logprobs: list[float], open_id: int, close_id: int, shortest_block: int = 16) -> Split:
    """Walk over the tokens once, knowing of each whether it was inserted."""
    found = Split()
    before = None
    is_inside, span_length = False, 0
    for token, is_inserted in zip(tokens, inserted_flags(logprobs, shortest_block), strict=True):
        if is_inserted:
            found.inserted += 1
            found.blocks += before is not True
        else:
            found.assistant += 1
            found.segments += before is not False
            if not is_inside and token == open_id:
                is_inside, span_length = True, 0
                found.spans += 1
            if is_inside:
                found.in_calls += 1
                span_length += 1
                is_inside = token != close_id
        before = is_inserted
    found.unclosed = span_length if is_inside else 0
    return found


def inserted_flags(logprobs: list[float], shortest_block: int) -> list[bool]:
    """For each token whether it stands in a run of enough zeros."""
    flags: list[bool] = []
    zeros = 0
    for logprob in [*logprobs, -1.0]:
        if logprob == 0:
            zeros += 1
            continue
        flags += [zeros >= shortest_block] * zeros
        flags.append(False)
        zeros = 0
    return flags[:-1]


@dataclass
class Attempt:
    """A run of an arm: when it started, and its batches by step from 0."""

    arm: str
    run_name: str
    started_at: int | None
    steps: list[int]
    is_excluded: bool = False
    label: dict[int, str | None] = field(default_factory=dict)


def label(attempts: list[Attempt], trained: dict[str, int], lineage_choice: str, leaves: dict[str, str]) -> None:
    """Fill in each attempt's label of every step. `trained`: the last training step of arms with a curve, from 1."""
    by_arm: dict[str, list[Attempt]] = defaultdict(list)
    for attempt in attempts:
        by_arm[attempt.arm].append(attempt)
    for arm, runs in by_arm.items():
        alive = [run for run in runs if not run.is_excluded]
        alive.sort(key=lambda r: (r.started_at is None, r.started_at or 0, r.run_name))
        chosen = _chosen(alive, lineage_choice, leaves.get(arm))
        for run in runs:
            for step in run.steps:
                run.label[step] = _label(run, step, alive, chosen, trained.get(arm))


def _label(run: Attempt, step: int, alive: list[Attempt], chosen: list[Attempt], trained: int | None) -> str | None:
    if run.is_excluded:
        return "excluded"
    later = alive[alive.index(run) + 1 :]
    if any(min(other.steps) <= step for other in later if other in chosen):
        return "rolled_back"
    if run not in chosen:
        return "other_lineage"
    return "never_trained" if trained is not None and step + 1 > trained else None


def _chosen(alive: list[Attempt], lineage_choice: str, leaf: str | None) -> list[Attempt]:
    """The lineage that counts: from its last run back to a fresh start."""
    lineages = [_path(run, alive) for run in alive]
    if not lineages:
        return []
    declared = [path for path in lineages if path[0].run_name == leaf]
    if declared:
        return declared[-1]
    if lineage_choice == "furthest":
        return max(reversed(lineages), key=lambda path: sum(len(run.steps) for run in path))
    return lineages[-1]


def _path(run: Attempt, alive: list[Attempt]) -> list[Attempt]:
    path = [run]
    while True:
        child = path[-1]
        parents = [
            other
            for other in alive[: alive.index(child)]
            if min(other.steps) < min(child.steps) and max(other.steps) >= min(child.steps) - 2
        ]
        if not parents:
            return path
        path.append(parents[-1])
