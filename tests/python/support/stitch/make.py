"""Logs of made-up runs, drawn by hypothesis."""

from collections.abc import Callable
from dataclasses import dataclass

from hypothesis import strategies as st

from tests.python.support.stitch.axes import Log, Row

HOUR = 3600
KEYS = [
    "global_step",
    "train/global_step",
    "trainer/global_step",
    "training/global_step",
    "train/step",
    "step",
    "_step",
]
STRIDES = [1, 1, 10, 10, 64, 1024]


@dataclass
class Maker:
    """Draws, and hands out run ids, times and lengths; `draw` is hypothesis's."""

    draw: Callable
    shape: int
    now: float
    name: str

    def number(self, low: int, high: int) -> int:
        return self.draw(st.integers(low, high))

    def one_of(self, items: list):
        return self.draw(st.sampled_from(items))

    def coin(self) -> bool:
        return self.draw(st.booleans())

    def log(self, run: int, rows: list[Row], part: int = 0, **facts) -> Log:
        """The log of a run of this shape; it starts when its rows do."""
        run_id = f"s{self.shape}r{run}"
        times = [row.logged_at for row in rows if row.logged_at is not None]
        facts = {"run_name": self.name, "started_at": min(times, default=self.now)} | facts
        return Log(f"{run_id}-{part}", run_id, rows, **facts)

    def later(self) -> float:
        """A time after all that came before."""
        self.now += HOUR
        return self.now


def steps(
    time: float,
    key: str | None,
    positions: list[float],
    metrics: dict[str, int] | None = None,
    first_step: int = 0,
) -> list[Row]:
    """A row a position: the key, and each metric at every so many rows. `_step` counts rows from `first_step`."""
    rows = []
    for n, position in enumerate(positions):
        values: dict = {}
        for metric, every in (metrics or {"loss": 1}).items():
            if n % every == 0:
                values[metric] = float(n) / 8
        if key == "_step":
            rows.append(Row(position, time + 60 * n, values))
        else:
            rows.append(Row(first_step + n, time + 60 * n, values | ({key: position} if key else {})))
    return rows


def spaced(make: Maker, start: float, stride: float, count: int) -> list[float]:
    """Positions that rise by the stride, one in a few by a little more or less."""
    found = [float(start)]
    for _ in range(count - 1):
        wobble = make.one_of([0, 0, 0, 0.25, -0.25, 4]) if stride > 1 else make.one_of([0, 0, 0, 0, 3])
        found.append(found[-1] + stride + (round(wobble * stride)))
    return found
