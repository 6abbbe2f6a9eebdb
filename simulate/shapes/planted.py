"""What a shape plants: logs, and beside each row what must become of it. Nothing here is computed by a stitch."""

import random
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime


@dataclass(frozen=True)
class Place:
    """What must become of a row.

    `training_step` (from 1) is null where the row is dropped; `position` and `track` are null where it can't be placed.
    Where `is_step` is set, the step has this row's position and run. Metrics in `overridden` have another value on the
    curve, from a row that comes later in its order. `superseded_by` is a run id.
    """

    position: float | None
    training_step: int | None
    drop_reason: str | None = None
    superseded_by: str | None = None
    source: str | None = "logged"
    track: int | None = 1
    is_step: bool = False
    overridden: frozenset[str] = frozenset()


UNPOSITIONED = Place(None, None, "unpositioned", source=None, track=None)


def step(
    training_step: int, position: float, source: str = "logged", overridden: Iterable[str] = (), track: int = 1
) -> Place:
    """A row that is a step of the curve."""
    return Place(position, training_step, None, None, source, track, True, frozenset(overridden))


def beside(
    training_step: int, position: float, source: str = "carried", overridden: Iterable[str] = (), track: int = 1
) -> Place:
    """A row that is kept on a step which another row makes."""
    return Place(position, training_step, None, None, source, track, False, frozenset(overridden))


def lost(
    drop_reason: str, position: float, superseded_by: str | None = None, source: str = "logged", track: int = 1
) -> Place:
    """A row that is on no curve."""
    return Place(position, None, drop_reason, superseded_by, source, track)


@dataclass(frozen=True)
class Run:
    """A run, the arm it belongs to, and why (`evidence`)."""

    run_id: str
    run_name: str
    arm: str
    evidence: str
    variant_of: str | None
    seed: str | None
    project: str
    group: str
    config: Mapping[str, object]


@dataclass
class Log:
    """One log of a run. `step` is W&B's own step of the next row, `clock` its time."""

    run: Run
    started_at: float
    axes: dict[str, str]
    has_exit: bool
    seconds: float
    step: int = 0
    rows: list[tuple[dict[str, object], Place]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.clock = self.started_at

    @property
    def directory(self) -> str:
        return f"run-{datetime.fromtimestamp(self.started_at, UTC):%Y%m%d_%H%M%S}-{self.run.run_id}"

    def add(self, values: Mapping[str, object], place: Place) -> None:
        """A row with these values, a while after the one before."""
        self.clock += self.seconds
        own = {
            "_step": self.step,
            "_timestamp": round(self.clock, 3),
            "_runtime": round(self.clock - self.started_at, 3),
        }
        self.rows.append(({**values, **own}, place))
        self.step += 1


class Shape:
    """The logs of one shape, in a project of its own, with the curves and findings they must give."""

    def __init__(self, name: str, rng: random.Random, starts_at: float):
        self.name = name
        self.rng = rng
        self.logs: list[Log] = []
        self.position_keys: dict[str, str] = {}
        """The axis of each arm."""
        self.findings: set[tuple[str, str]] = set()
        self._starts_at = starts_at

    def run(
        self,
        tail: str = "run",
        *,
        arm: str | None = None,
        run_name: str | None = None,
        evidence: str = "run_name",
        variant_of: str | None = None,
        seed: str | None = None,
        group: str = "",
        config: Mapping[str, object] | None = None,
    ) -> Run:
        """A run; its name, and thereby its arm, is the shape's where no other is given."""
        run_name = run_name or self.name
        return Run(
            f"{self.name}-{tail}",
            run_name,
            arm or run_name,
            evidence,
            variant_of,
            seed,
            self.name,
            group,
            {"output_dir": f"out/{tail}", **(config or {})},
        )

    def log(
        self,
        run: Run,
        key: str,
        *,
        axes: dict[str, str] | None = None,
        has_exit: bool = False,
        starts_at: float | None = None,
        first_step: int = 0,
    ) -> Log:
        """A new log of a run, after all others where no start is given. `key` is the axis of the run's arm."""
        ended = max((log.clock for log in self.logs), default=self._starts_at)
        start = starts_at or float(round(ended + self.rng.randrange(300, 3000)))
        log = Log(run, start, axes or {}, has_exit, float(self.rng.randrange(20, 90)), first_step)
        self.logs.append(log)
        self.position_keys[run.arm] = key
        return log

    def noise(self) -> float:
        """A value of a metric; never zero."""
        return round(self.rng.uniform(0.001, 1.0), 6)

    def train(
        self, log: Log, key: str, places: Iterable[Place], metrics: Iterable[str] = ("train/loss", "train/kl")
    ) -> None:
        """A row of training metrics at each place. The key `_step` is not written: W&B counts it."""
        metrics = list(metrics)
        for place in places:
            log.add(self.at(key, place.position) | {metric: self.noise() for metric in metrics}, place)

    @staticmethod
    def at(key: str, position: float | None) -> dict[str, object]:
        """The key as a row logs it."""
        return {} if key == "_step" or position is None else {key: int(position)}

    def finds(self, kind: str, subject: str | None = None) -> None:
        """A finding that must be there; its subject is the shape's arm where no other is given."""
        self.findings.add((kind, subject or self.name))
