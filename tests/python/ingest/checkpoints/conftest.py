"""A cell of a sweep, for the readers of it."""

from pathlib import Path

import pytest

from tests.python.support.checkpoints.landing import write


@pytest.fixture
def cell(tmp_path: Path) -> Path:
    """A cell `kimi` of a sweep `lab`, with its run.json."""
    folder = tmp_path / "lab" / "kimi"
    run = {"cell": "kimi", "driver": "kimi-code", "effort": "high", "started_at": "2026-08-03T08:00:00+02:00"}
    write(folder / "run.json", run | {"ended_at": "2026-08-07T10:00:00Z"})
    return folder
