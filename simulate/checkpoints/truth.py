"""What a simulated sweep is in truth: hours, spending, packaging, scores, companions and findings."""

from collections.abc import Iterator
from pathlib import Path

from simulate.checkpoints.sweep import BASE, COMPANIONS, ORG, SUITES, Cell, Checkpoint
from simulate.files import write_csv

Scores = dict[tuple[str, int, str], float | None]
"""(cell, index of its checkpoint, suite) -> the score; None where its cell was scored on the suite, but it was not."""

_MORE = (
    "driver_tokens_at_hour", "role", "eos_ok", "eos_ok_vllm", "eos_token_ids", "equals_baseline", "source",
)  # fmt: skip


def flag(value: bool | None) -> str | None:
    """A truth value as a CSV spells it; None is an empty cell."""
    return None if value is None else str(value).lower()


def tell(folder: Path, planned: list[Cell], scores: Scores) -> None:
    """Write `checkpoints_checkpoints.csv`, `_scores`, `_frontier`, `_cells`, `_companions`, `_findings`."""
    rows, bounds = [], _upper_bounds(planned)
    for cell in planned:
        for index, c in enumerate(cell.checkpoints):
            bound = None if c.is_known else bounds.get((cell.name, c.family))
            ids = [cell.model_id(c), cell.name, c.family, c.step, c.hour, c.evidence, bound]
            packaged = [flag(c.eos_ok), flag(c.eos_ok_vllm), c.eos_token_ids, flag(cell.equals_baseline(index))]
            rows.append([*ids, cell.tokens_at(c), cell.role(index), *packaged, cell.source(c)])
    names = ["model_id", "cell", "family", "step", "hour", "hour_source", "hour_upper_bound"]
    write_csv(folder / "checkpoints_checkpoints.csv", [*names, *_MORE], rows)
    write_csv(
        folder / "checkpoints_cells.csv",
        ["cell", "checkpoint_count", "eos_ok_count", "submitted_hour", "is_plotted", "is_valid"],
        [
            [
                c.name, len(c.checkpoints), sum(x.eos_ok is True for x in c.checkpoints),
                c.checkpoints[c.submitted].hour, flag(c.is_plotted), flag(c.is_valid),
            ]
            for c in planned
        ],
    )  # fmt: skip
    _tell_scores(folder, planned, scores)
    companions = [row for cell in planned for row in _companions(cell)]
    names = ["repo", "cell", "companion_kind", "file_count", "contents"]
    write_csv(folder / "checkpoints_companions.csv", names, companions)
    write_csv(folder / "checkpoints_findings.csv", ["kind", "subject"], sorted(_findings(planned, scores)))


def _companions(cell: Cell) -> Iterator[list]:
    """(repo, cell, kind, files, what lies at the top) of each companion of a cell."""
    for kind, names in COMPANIONS.items():
        tops: dict[str, int] = {}
        for name in names:
            tops[name.split("/")[0]] = tops.get(name.split("/")[0], 0) + ("/" in name)
        contents = ", ".join(f"{top}/ ({count})" if count else top for top, count in sorted(tops.items()))
        yield [f"{ORG}/{cell.name}-{kind}", cell.name, kind, len(names), contents]


def _upper_bounds(planned: list[Cell]) -> dict[tuple[str, str], float]:
    latest: dict[tuple[str, str], float] = {}
    for cell in planned:
        for c in cell.checkpoints:
            if c.hour is not None:
                latest[cell.name, c.family] = max(c.hour, latest.get((cell.name, c.family), 0.0))
    return latest


def _tell_scores(folder: Path, planned: list[Cell], scores: Scores) -> None:
    by_name = {cell.name: cell for cell in planned}
    rows = [[BASE, suite, score, 0.0, None, "baseline"] for suite, score in SUITES.items()]
    frontier = []
    for (name, index, suite), score in scores.items():
        cell = by_name[name]
        c = cell.checkpoints[index]
        tokens = cell.tokens_at(c)
        gain = None if score is None else score - SUITES[suite]
        status = _cost_status(cell, c, gain, tokens)
        cost = tokens / gain if status == "ok" and tokens is not None and gain is not None else None
        rows.append([cell.model_id(c), suite, score, gain, cost, status])
        if cell.is_valid and score is not None and c.eos_ok and c.is_known:
            earlier = [
                scores[name, i, suite]
                for i, other in enumerate(cell.checkpoints)
                if other.second <= c.second and other.is_known and other.eos_ok
            ]
            best = max(s for s in earlier if s is not None)
            frontier.append([name, suite, cell.model_id(c), score, best, flag(best == score)])
    write_csv(
        folder / "checkpoints_scores.csv",
        ["model_id", "suite", "score", "gain", "cost_per_point", "cost_status"],
        rows,
    )
    write_csv(
        folder / "checkpoints_frontier.csv",
        ["cell", "suite", "model_id", "score", "best_score_by_hour", "is_best_by_hour"],
        frontier,
    )


def _cost_status(cell: Cell, checkpoint: Checkpoint, gain: float | None, tokens: int | None) -> str:
    if not cell.is_valid:
        return "invalid_cell"
    if gain is None:
        return "unscored"
    if checkpoint.eos_ok is None:
        return "unknown_packaging"
    if not checkpoint.eos_ok:
        return "packaging"
    if tokens is None:
        return "hour_unknown"
    return "ok" if gain > 0 else "no_gain"


def _findings(planned: list[Cell], scores: Scores) -> set[tuple[str, str]]:
    """(kind, subject) of every finding that the sweep must give, and no other."""
    found = set()
    by_name = {cell.name: cell for cell in planned}
    for cell in planned:
        if cell.copied_at is not None:
            found.add(("mtimes_flattened", cell.name))
        if any(c.eos == "bad" for c in cell.checkpoints):
            found.add(("eos_depends_on_server", cell.name))
        if cell.is_base:
            found.add(("submission_is_baseline", cell.model_id(cell.checkpoints[cell.submitted])))
        logged = [c for c in cell.checkpoints if c.place == "log"]
        found |= {("archived_checkpoint_missing", f"{cell.name}/{c.path}") for c in logged}
        if any(c.eos_ok is False for c in cell.checkpoints):
            found.add(("badly_packaged_cell", cell.name))
        found |= {("family_without_cadence", f"{cell.name}/{c.family}") for c in cell.checkpoints if not c.is_known}
        found |= {("broken_config", cell.model_id(c)) for c in cell.checkpoints if c.eos == "broken"}
    for (name, index, suite), score in scores.items():
        if score == SUITES[suite]:
            cell = by_name[name]
            found.add(("zero_gain", f"{cell.model_id(cell.checkpoints[index])} on {suite}"))
    return found
