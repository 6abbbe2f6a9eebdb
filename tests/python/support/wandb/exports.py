"""Exported W&B histories and charts as W&B writes them, and a home that ingested them."""

import json
from pathlib import Path

from homes.paths import Home
from ingest.wandb.files import ingest_wandb
from tests.python.support.landed import fresh

RUN = {
    "id": "abc123",
    "name": "my run__1__1795995180",
    "state": "finished",
    "config": {"lr": {"value": 1e-5}, "a": {"value": {"b": 2}}},
    "group": "g",
    "project": "proj",
    "created_at": "2026-11-29T23:33:00Z",
}


def write(path: Path, text: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text if isinstance(text, str) else json.dumps(text), encoding="utf-8")
    return path


def ingested(folder: Path, *sources: Path, run_id: str | None = None) -> Home:
    home = fresh(folder / "home")
    ingest_wandb(home, [str(source) for source in sources], run_id, workers=1)
    return home


VALUES = """
    select row_idx, metric, key_path, value, value_text
    from history_values where not starts_with(metric, '_') order by all
"""


def chart(axis: str, series: list[str], *lines: list[str]) -> str:
    """A chart export as W&B writes it, every cell quoted; three cells a series, its value, MIN and MAX."""
    header = [axis, *(f"{name}{bound}" for name in series for bound in ("", "__MIN", "__MAX"))]
    return "".join(",".join(f'"{cell}"' for cell in line) + "\n" for line in [header, *lines])


CHART_LOSS = chart(
    "Step",
    ["grpo - a - train/loss", "sft - train/loss"],
    ["0", "0.5", "0.5", "0.5", "", "", ""],
    ["2", "0.4", "0.3", "0.5", "0.9", "0.9", "0.9"],
)


CHART_SCORES = chart("Step", ["grpo - a - scores"], ["1", "0.1", "0.1", "0.1"], ["2", "NaN", "NaN", "NaN"])
