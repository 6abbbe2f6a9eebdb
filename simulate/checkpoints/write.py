"""Writes a sweep of checkpoints, its drivers' logs and its scores, and the truth about each."""

import json
import os
import random
from datetime import UTC, datetime
from pathlib import Path

from simulate.checkpoints.driver_logs import write_sessions
from simulate.checkpoints.sweep import (
    BASE,
    COMPANIONS,
    END_OF_TEXT,
    END_OF_TURN,
    HARNESS,
    ORG,
    SPARE,
    SUITES,
    Cell,
    Checkpoint,
    cells,
)
from simulate.checkpoints.truth import Scores, flag, tell
from simulate.files import safetensors, write_csv

_BASE_WEIGHTS = {"embed": b"what words mean", "head": b"what comes next"}
SCORE_EVERY = 2
"""Every second checkpoint of a cell is scored; the others are `unscored`."""


def write(folder: Path, scale: str, seed: int) -> None:
    """Write `sweep/`, `scores/`, `declared/` and `truth/checkpoints_*.csv` below `folder`.

    The sweep is the same at the scales small and card; at a number there is a copy of it for every hundred.
    """
    planned = cells(seed, max(1, int(scale) // 100) if scale.isdigit() else 1)
    for cell in planned:
        _write_cell(folder / "sweep" / ORG / cell.name, cell)
        _write_companions(folder / "sweep" / ORG, cell)
        _write_spares(folder / "sweep" / SPARE, cell)
    _write_manifest(folder / "sweep" / ORG / "manifest.json", planned)
    _write_base(folder / "sweep" / "base" / BASE.split("/")[1])
    scores = _scores(planned, seed)
    _write_scores(folder / "scores", planned, scores)
    _declare(folder / "declared", planned)
    tell(folder / "truth", planned, scores)


def _write_cell(folder: Path, cell: Cell) -> None:
    for index, checkpoint in enumerate(cell.checkpoints):
        if checkpoint.place == "local":
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
    files = _files(cell, checkpoint, index)
    target = folder / "checkpoints" / checkpoint.family / str(checkpoint.step)
    target.mkdir(parents=True)
    # A copy is written in one go: all of them within a minute of each other.
    written = cell.at(checkpoint.second if checkpoint.evidence == "mtime" else (cell.copied_at or 0) + 2 * index % 60)
    for age, (name, content) in enumerate(files.items()):
        (target / name).write_bytes(content)
        _set_time(target / name, written, 20 * (len(files) - 1 - age) if checkpoint.evidence == "mtime" else 0)


def _write_spares(folder: Path, cell: Cell) -> None:
    """What was moved before it was pruned: as copied later, its times tell nothing."""
    for index, checkpoint in enumerate(cell.checkpoints):
        if checkpoint.place == "spare":
            target = folder / cell.spare_id(checkpoint).split("/")[1]
            target.mkdir(parents=True)
            for name, content in _files(cell, checkpoint, index).items():
                (target / name).write_bytes(content)
                _set_time(target / name, cell.at((cell.run_hours + 50) * 3600), 0)


def _write_manifest(path: Path, planned: list[Cell]) -> None:
    """What is published of the checkpoints that nothing else is left of; their hours were not known then."""
    rows = [
        {
            "model_id": cell.model_id(c),
            "cell": cell.name,
            "hour": None,
            "hour_source": "unrecoverable",
            "role": cell.role(index),
            "eos_ok": c.eos_ok,
            "eos_token_id": c.eos_token_ids,
            "source": cell.source(c),
        }
        for cell in planned
        for index, c in enumerate(cell.checkpoints)
        if c.place == "manifest"
    ]
    path.write_text(json.dumps(rows, indent=1) + "\n")


def _write_companions(folder: Path, cell: Cell) -> None:
    for kind, names in COMPANIONS.items():
        for name in names:
            path = folder / f"{cell.name}-{kind}" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{name} of {cell.name}\n")


def _set_time(path: Path, moment: datetime, seconds_before: int) -> None:
    nanoseconds = (int(moment.replace(tzinfo=UTC).timestamp()) - seconds_before) * 10**9
    os.utime(path, ns=(nanoseconds, nanoseconds))


def _files(cell: Cell, checkpoint: Checkpoint, index: int) -> dict[str, bytes]:
    """File name and content, the last one written last."""
    own = f"{cell.name}/{checkpoint.path}".encode()
    trained = _BASE_WEIGHTS if cell.is_base and index == cell.submitted else _BASE_WEIGHTS | {"head": own}
    files = {name: text.encode() for name, text in _metadata(cell, checkpoint).items()}
    return files | {"model.safetensors": safetensors(trained)}


def _metadata(cell: Cell, checkpoint: Checkpoint) -> dict[str, str]:
    right, wrong = [END_OF_TEXT, END_OF_TURN], END_OF_TEXT
    # Drivers that load the base from a local folder leave only the model type to go by.
    config: dict = {"model_type": "qwen3_5", "_name_or_path": BASE if "sol" in cell.name else "/models/base"}
    if cell.name.startswith("grok"):
        config |= {"architectures": ["Qwen3_5ForConditionalGeneration"], "vision_config": {"depth": 27}}
    generation: dict | None = None
    if checkpoint.eos in ("generation_config", "bad", "worse"):
        generation = {"eos_token_id": right if checkpoint.eos == "generation_config" else wrong}
        config["eos_token_id"] = wrong
    elif checkpoint.eos == "config":
        config |= {"eos_token_id": right, "text_config": {"eos_token_id": wrong}}
    elif checkpoint.eos == "text_config":
        config["text_config"] = {"eos_token_id": END_OF_TURN}
    elif checkpoint.eos == "broken":
        config["eos_token_id"] = right
    token = "<|endoftext|>" if checkpoint.eos == "worse" else "<|im_end|>"
    files = {
        "config.json": json.dumps(config),
        "tokenizer_config.json": json.dumps({"eos_token": token, "chat_template": "{}"}),
    }
    if checkpoint.eos == "broken":
        files["generation_config.json"] = '{\n  "eos_token_id": 248046\n  "do_sample": true\n}\n'
    elif generation is not None:
        files["generation_config.json"] = json.dumps(generation)
    return files


def _write_base(folder: Path) -> None:
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps({"model_type": "qwen3_5", "_name_or_path": BASE}))
    (folder / "generation_config.json").write_text(json.dumps({"eos_token_id": [END_OF_TEXT, END_OF_TURN]}))
    (folder / "model.safetensors").write_bytes(safetensors(_BASE_WEIGHTS))


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
        [[c.name, c.driver, c.effort, flag(c.is_plotted), flag(c.is_valid), c.note] for c in planned],
    )
    moved = {(c.name, x.family) for c in planned for x in c.checkpoints if x.place == "spare"}
    write_csv(
        folder / "spare_repos.csv",
        ["repo", "cell", "family", "step", "note"],
        [[f"{SPARE}/{name}-{family}-*", name, family, None, "moved"] for name, family in sorted(moved)],
    )
    write_csv(
        folder / "baselines.csv",
        ["suite", "model_id", "score", "harness", "source"],
        [[suite, BASE, score, HARNESS, "measured before the sweep"] for suite, score in SUITES.items()],
    )
