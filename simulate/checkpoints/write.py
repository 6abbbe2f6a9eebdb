"""Writes a sweep of checkpoints, its drivers' logs and its scores, and the truth about each."""

import json
import os
import random
from datetime import UTC, datetime
from pathlib import Path

from simulate.checkpoints.driver_logs import write_sessions
from simulate.checkpoints.sweep import BASE, END_OF_TEXT, END_OF_TURN, HARNESS, ORG, SUITES, Cell, Checkpoint, cells
from simulate.files import write_csv

SCORE_EVERY = 2
"""Every second checkpoint of a cell is scored; the others are `unscored`."""


def write(folder: Path, scale: str, seed: int) -> None:
    """Write `sweep/`, `scores/`, `declared/` and `truth/checkpoints_*.csv` below `folder`.

    The sweep is the same at the scales small and card; at a number there is a copy of it for every hundred.
    """
    planned = cells(seed, max(1, int(scale) // 100) if scale.isdigit() else 1)
    for cell in planned:
        _write_cell(folder / "sweep" / ORG / cell.name, cell)
    _write_base(folder / "sweep" / "base" / BASE.split("/")[1])
    scores = _scores(planned, seed)
    _write_scores(folder / "scores", planned, scores)
    _declare(folder / "declared", planned)
    _tell(folder / "truth", planned, scores)


def _write_cell(folder: Path, cell: Cell) -> None:
    for index, checkpoint in enumerate(cell.checkpoints):
        _write_checkpoint(folder, cell, checkpoint, index)
    archived = [c for c in cell.checkpoints if c.evidence == "janitor"]
    if archived:
        lines = [f"{cell.at(c.second):%Y-%m-%dT%H:%M:%SZ} archived {c.path}\n" for c in archived]
        (folder / "ckpt-janitor.log").write_text("".join(lines))
    run = {
        "cell": cell.name,
        "driver": cell.driver,
        "effort": cell.effort,
        "started_at": f"{cell.start:%Y-%m-%dT%H:%M:%SZ}",
        "ended_at": f"{cell.at(cell.run_hours * 3600):%Y-%m-%dT%H:%M:%SZ}",
    }
    fallback = None if cell.fallback is None else cell.checkpoints[cell.fallback].path
    submission = {"submitted": cell.checkpoints[cell.submitted].path, "fallback": fallback}
    (folder / "run.json").write_text(json.dumps(run, indent=2) + "\n")
    (folder / "submission.json").write_text(json.dumps(submission) + "\n")
    write_sessions(folder, cell)


def _write_checkpoint(folder: Path, cell: Cell, checkpoint: Checkpoint, index: int) -> None:
    files = _metadata(cell, checkpoint) | {"model.safetensors": "weights"}
    target = folder / "checkpoints" / checkpoint.family / str(checkpoint.step)
    target.mkdir(parents=True)
    # A copy is written in one go: all of them within a minute of each other.
    written = cell.at(checkpoint.second if checkpoint.evidence == "mtime" else (cell.copied_at or 0) + 2 * index % 60)
    for age, (name, content) in enumerate(files.items()):
        (target / name).write_text(content)
        _set_time(target / name, written, 20 * (len(files) - 1 - age) if checkpoint.evidence == "mtime" else 0)


def _set_time(path: Path, moment: datetime, seconds_before: int) -> None:
    nanoseconds = (int(moment.replace(tzinfo=UTC).timestamp()) - seconds_before) * 10**9
    os.utime(path, ns=(nanoseconds, nanoseconds))


def _metadata(cell: Cell, checkpoint: Checkpoint) -> dict[str, str]:
    """File name and content, the last one written last."""
    right, wrong = [END_OF_TEXT, END_OF_TURN], END_OF_TEXT
    # Drivers that load the base from a local folder leave only the model type to go by.
    config: dict = {"model_type": "qwen3_5", "_name_or_path": BASE if "sol" in cell.name else "/models/base"}
    generation: dict | None = {"do_sample": True}
    if checkpoint.eos in ("generation_config", "bad"):
        generation = {"eos_token_id": right if checkpoint.eos == "generation_config" else wrong}
        config["eos_token_id"] = wrong
    elif checkpoint.eos == "config":
        config |= {"eos_token_id": right, "text_config": {"eos_token_id": wrong}}
    elif checkpoint.eos == "text_config":
        generation, config["text_config"] = None, {"eos_token_id": END_OF_TURN}
    elif checkpoint.eos == "broken":
        config["eos_token_id"] = right
    files = {"config.json": json.dumps(config), "tokenizer_config.json": json.dumps({"eos_token": "<|im_end|>"})}
    if checkpoint.eos == "broken":
        files["generation_config.json"] = '{\n  "eos_token_id": 248046\n  "do_sample": true\n}\n'
    elif generation is not None:
        files["generation_config.json"] = json.dumps(generation)
    return files


def _write_base(folder: Path) -> None:
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps({"model_type": "qwen3_5", "_name_or_path": BASE}))
    (folder / "generation_config.json").write_text(json.dumps({"eos_token_id": [END_OF_TEXT, END_OF_TURN]}))


Scores = dict[tuple[str, int, str], float | None]
"""(cell, index of its checkpoint, suite) -> the score; None where its cell was scored on the suite, but it was not."""


def _scores(planned: list[Cell], seed: int) -> Scores:
    rng = random.Random(f"{seed}:scores")
    scores: Scores = {}
    for cell in planned:
        for suite, baseline in SUITES.items():
            for index, checkpoint in enumerate(cell.checkpoints):
                # Quarters are exact in binary, so that gains and the zero gain are too.
                gained = round(4 * (rng.uniform(-2, 2) + 0.2 * checkpoint.second / 3600)) / 4
                if index == 4:
                    gained = 0.0
                scores[cell.name, index, suite] = baseline + gained if index % SCORE_EVERY == 0 else None
    return scores


def _write_scores(folder: Path, planned: list[Cell], scores: Scores) -> None:
    """One suite as CSV by model id, the other as JSONL by cell, family and step; the baseline is scored too."""
    as_csv, as_jsonl = SUITES
    by_name = {cell.name: cell for cell in planned}
    rows: list[list] = [[BASE, as_csv, SUITES[as_csv], HARNESS]]
    lines = [json.dumps({"model_id": BASE, "suite": as_jsonl, "score": SUITES[as_jsonl], "harness": HARNESS})]
    for (name, index, suite), score in scores.items():
        cell = by_name[name]
        checkpoint = cell.checkpoints[index]
        if score is None:
            continue
        if suite == as_csv:
            rows.append([cell.model_id(checkpoint), suite, score, HARNESS])
            continue
        named = {"cell": name, "family": checkpoint.family, "step": checkpoint.step}
        lines.append(json.dumps(named | {"suite": suite, "score": score, "harness": HARNESS}))
    write_csv(folder / f"{as_csv}.csv", ["model_id", "suite", "score", "harness"], rows)
    (folder / f"{as_jsonl}.jsonl").write_text("\n".join(lines) + "\n")


def _declare(folder: Path, planned: list[Cell]) -> None:
    write_csv(
        folder / "cells.csv",
        ["cell", "driver", "effort", "is_plotted", "is_valid", "note"],
        [[c.name, c.driver, c.effort, _flag(c.is_plotted), _flag(c.is_valid), c.note] for c in planned],
    )
    write_csv(
        folder / "baselines.csv",
        ["suite", "model_id", "score", "harness", "source"],
        [[suite, BASE, score, HARNESS, "measured before the sweep"] for suite, score in SUITES.items()],
    )


def _flag(value: bool | None) -> str | None:
    return None if value is None else str(value).lower()


def _tell(folder: Path, planned: list[Cell], scores: Scores) -> None:
    """The truth: `checkpoints_checkpoints.csv`, `_scores`, `_frontier`, `_cells`, `_findings`."""
    rows, bounds = [], _upper_bounds(planned)
    for cell in planned:
        for index, c in enumerate(cell.checkpoints):
            bound = None if c.is_known else bounds.get((cell.name, c.family))
            source = c.evidence
            ids = [cell.model_id(c), cell.name, c.family, c.step, c.hour, source, bound]
            rows.append([*ids, cell.tokens_at(c), cell.role(index), _flag(c.eos_ok)])
    names = ["model_id", "cell", "family", "step", "hour", "hour_source", "hour_upper_bound"]
    write_csv(folder / "checkpoints_checkpoints.csv", [*names, "driver_tokens_at_hour", "role", "eos_ok"], rows)
    write_csv(
        folder / "checkpoints_cells.csv",
        ["cell", "checkpoint_count", "eos_ok_count", "submitted_hour", "is_plotted", "is_valid"],
        [
            [
                c.name, len(c.checkpoints), sum(x.eos_ok is True for x in c.checkpoints),
                c.checkpoints[c.submitted].hour, _flag(c.is_plotted), _flag(c.is_valid),
            ]
            for c in planned
        ],
    )  # fmt: skip
    _tell_scores(folder, planned, scores)
    write_csv(folder / "checkpoints_findings.csv", ["kind", "subject"], sorted(_findings(planned, scores)))


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
            frontier.append([name, suite, cell.model_id(c), score, best, _flag(best == score)])
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
        if any(c.eos_ok is False for c in cell.checkpoints):
            found.add(("badly_packaged_cell", cell.name))
        found |= {("family_without_cadence", f"{cell.name}/{c.family}") for c in cell.checkpoints if not c.is_known}
        found |= {("broken_config", cell.model_id(c)) for c in cell.checkpoints if c.eos == "broken"}
    for (name, index, suite), score in scores.items():
        if score == SUITES[suite]:
            cell = by_name[name]
            found.add(("zero_gain", f"{cell.model_id(cell.checkpoints[index])} on {suite}"))
    return found
