"""The plan of a simulated campaign in rounds: names, sizes, times and prices that its writers share."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

RUN = "ropd-sim-wide"
TRACKER_ID = "sim8ropd"
"""The run's id in W&B, declared as an alias of RUN."""
DIAGNOSTIC = "wb-installed-sim"
TASKS = ("denoise-audio", "leaf-type", "spam-titles", "tabular-may", "whale-calls")
SIBLINGS = 16
INTERRUPTED_STEP, INTERRUPTED_COUNT = 5, 37
START = datetime(2026, 9, 8, 18, 0, tzinfo=UTC)
REGISTERED = datetime(2026, 9, 8, 9, 30, tzinfo=UTC)
ROUND_HOURS = 4
VALID_COUNTS = (10, 12, 14, 16, 20, 24, 25, 27, 28)
"""Valid candidates of each round: 36 of 240 in the first three, 80 of 240 in the last three."""
OUTCOMES = ("error", "no_submission", "timeout")


@dataclass(frozen=True)
class Shape:
    """How large the campaign is. `verifier_calls` and `text_bytes` are those of one group and one response."""

    rounds: int = 9
    text_bytes: int = 300
    verifier_calls: int = 4
    system_rows: int = 314
    system_events: int = 193


def shape_of(scale: str) -> Shape:
    """small, card (the published campaign's size) or a number of rounds, nine or more, with 400 calls each."""
    if scale == "small":
        return Shape()
    card = Shape(text_bytes=4000, verifier_calls=16, system_rows=3148, system_events=1930)
    return card if scale == "card" else Shape(max(9, int(scale)), 20_000, 78)


def valid_count(shape: Shape, step: int) -> int:
    """Valid candidates of a round; the first and last three are those of the nine-round campaign."""
    if step > shape.rounds - 3:
        return VALID_COUNTS[step - shape.rounds - 1]
    return VALID_COUNTS[(step - 1) % 6]


def begins(step: int) -> datetime:
    """When a round begins, UTC."""
    return START + timedelta(hours=ROUND_HOURS * (step - 1))


def write_lines(path: Path, rows: Iterable[dict], torn: str = "") -> None:
    """A JSONL file; `torn` is the start of a line that was never finished."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w", encoding="utf-8") as out:
        for row in rows:
            out.write(json.dumps(row) + "\n")
        out.write(torn)


def write_json(path: Path, value: object) -> None:
    """A JSON file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, indent=1) + "\n", encoding="utf-8")
