"""The shapes that a folder of runs can have, each as a function that draws logs of it."""

from dataclasses import replace

from tests.python.support.stitch.axes import Axis, Log, Row
from tests.python.support.stitch.make import HOUR, KEYS, STRIDES, Maker, spaced, steps


def resumed(make: Maker) -> list[Log]:
    """A run, and resumes of it: a new run or the same id, from a checkpoint, some a little off (seams)."""
    key, stride = make.one_of(KEYS), make.one_of(STRIDES)
    positions = spaced(make, make.one_of([0, 1, stride, stride]), stride, make.number(3, 20))
    metrics = {"loss": 1, "scores": make.one_of([1, 3])}
    logs, trainer_step = [], make.coin()
    for run in range(make.number(1, 3)):
        rows = steps(make.later(), key, positions, metrics)
        if trainer_step:
            for row, position in zip(rows, positions, strict=True):
                row.values["training_step"] = float(round(position / stride))
        logs.append(make.log(0 if make.coin() else run, rows, part=run))
        back = make.number(0, len(positions))
        start = positions[-back] if back else positions[-1] + make.one_of([1, 2, 3]) * stride
        offset = make.one_of([0, 0, 0.05, 0.125, -0.05]) * stride
        positions = spaced(make, start + round(offset), stride, make.number(1, 20))
    return logs


def seamed(make: Maker) -> list[Log]:
    """Resumes whose first step is counted a little later than the one it redoes: some collapse, some are steps."""
    stride, start, logs = make.one_of([100, 1024]), 0.0, []
    for run in range(make.number(2, 3)):
        positions = spaced(make, start or 320, stride, make.number(4, 12))
        logs.append(make.log(run, steps(make.later(), "global_step", positions, {"scores": 1})))
        if make.coin():
            evaluation = Row(None, make.now + 1, {"eval/pass1": float(run)})
            logs[-1].rows.insert(make.number(1, len(positions)), evaluation)
        redone = positions[-make.number(1, 3)]
        start = redone + round(make.one_of([0.01, 0.03, 0.059, 0.0999, 0.1, 0.125, 0.188, 0]) * stride)
    return logs


def resumed_with_another_config(make: Maker) -> list[Log]:
    """Two seeds, and runs that start where one of them had been, with the same or another value."""
    key, stride = make.one_of(KEYS), make.one_of([1, 10])
    values = [make.one_of([("1",), ("2",), ("1", "3"), ("0.50",), ()]) for _ in range(4)]
    logs = []
    for run in range(make.number(2, 4)):
        config = dict(zip(["algo.seed", "lr"], values[run], strict=False))
        start = stride if run < 2 else make.one_of([1, 4, 6, 20]) * stride
        positions = spaced(make, start, stride, make.number(5, 12))
        name = make.name + make.one_of(["", "", "__9__1700000001"])
        logs.append(make.log(run, steps(make.later(), key, positions), config=config, run_name=name))
    return logs


def relaunched(make: Maker) -> list[Log]:
    """From scratch again and again under one name, without another config: a dead start, another cadence, repeats."""
    key = make.one_of(KEYS)
    logs = []
    for run in range(make.number(2, 3)):
        stride = make.one_of([1, 10])
        count = make.one_of([1, 2, 5, 20])
        logs.append(make.log(run, steps(make.later(), key, spaced(make, make.one_of([0, stride]), stride, count))))
    return logs


def seeds_in_one_group(make: Maker) -> list[Log]:
    """Seeds, or other learning rates, under one name or with a launch tail; a later launch may resume one of them."""
    key, stride, count = make.one_of(KEYS), make.one_of(STRIDES), make.number(3, 12)
    config_key = make.one_of(["seed", "seed", "optim.lr", "env_id", "num_gpus", "output_dir"])
    config = [{config_key: make.one_of(texts)} for texts in (["1", "1.0", "a"], ["2", "2e0", '"deep, er"', "1"])]
    config.append(make.one_of([{}, config[0], config[1], {config_key: "7", "seed": "3"}]))
    tail = make.one_of(["", "", "__{}__1700000000", "_20260912-080000", "-1700000000"])
    logs = []
    for run in range(make.number(2, 3)):
        start = make.one_of([0, 0, 6]) * stride if run == 2 else stride
        rows = steps(make.later(), key, spaced(make, start, stride, count))
        name = self_named(make, run) if make.number(0, 7) == 0 else make.name + tail.format(run)
        logs.append(make.log(run, rows, run_name=name, group="study", config=config[run]))
    return logs


def self_named(make: Maker, run: int) -> str | None:
    return make.one_of([None, "", f"technique-{run}"])


def dense_then_rare(make: Maker) -> list[Log]:
    """Each of the first steps, then every so many."""
    dense, every = make.number(2, 10), make.one_of([50, 200])
    positions = [float(p) for p in range(dense)] + [float(every * n) for n in range(1, make.number(2, 20))]
    rows = steps(make.later(), make.one_of(KEYS), positions, {"loss": 1, "val/loss": make.number(2, 6)})
    if make.coin():
        again = steps(make.later(), "global_step", positions[make.number(1, len(positions) - 1) :], {"loss": 1})
        return [make.log(0, rows), make.log(1, again)]
    return [make.log(0, rows)]


def evaluated(make: Maker) -> list[Log]:
    """Evaluation rows between training rows: with an axis of their own, the key, a lagging key, or none; resumed."""
    key = make.one_of(["train/global_step", "global_step", "train/step"])
    kind = make.one_of(["own", "own", "other", "key", "lag", "none", "epoch"])
    axes = [Axis("eval/*", "eval/" + key.split("/")[-1])] if kind == "own" and make.coin() else []
    stride, logs, start = make.one_of([1, 10]), [], 0.0
    for run in range(make.number(1, 2)):
        positions = spaced(make, start or stride, stride, make.number(3, 15))
        rows = steps(make.later(), key, positions)
        every, mixed = make.number(2, 4), []
        if make.coin():
            mixed.append(Row(None, rows[0].logged_at, _evaluation(kind, key, start, 0)))
        for n, row in enumerate(rows):
            mixed.append(row)
            if n % every == every - 1:
                seen = positions[n] - (make.number(0, 2) * stride if kind == "lag" else 0)
                mixed.append(Row(None, row.logged_at + 30, _evaluation(kind, key, seen, n)))
        for n, row in enumerate(mixed):
            row.step = n
        logs.append(make.log(run, mixed, axes=axes))
        start = positions[make.number(0, len(positions) - 1)] + stride
    return logs


def _evaluation(kind: str, key: str, position: float, n: int) -> dict:
    values: dict = {"eval/pass1": 0.5 + n}
    if kind == "own":
        values["eval/" + key.split("/")[-1]] = position
    elif kind == "other":
        values["rollout/" + key.split("/")[-1]] = 1000.0 * (n + 1)
    elif kind in ("key", "lag"):
        values[key] = position
    elif kind == "epoch":
        values["epoch"] = float(n)
    return values


def validated_first(make: Maker) -> list[Log]:
    """verl: validation before training, at each launch, has the tracker's step and no key."""
    logs, start, count = [], 0, make.number(3, 12)
    for run in range(make.number(1, 2)):
        key = "training/global_step"
        rows = steps(make.later(), key, [float(start + n) for n in range(1, count + 1)], first_step=start + 1)
        rows.insert(0, Row(start, rows[0].logged_at - 30, {"val/reward": 0.25}))
        for row in rows[3::3]:
            row.values["val/reward"] = 0.5
        logs.append(make.log(run, rows, axes=make.one_of([[], [Axis("*", key)]])))
        start += make.number(0, count)
    return logs


def second_pass(make: Maker) -> list[Log]:
    """One process writes one metric over the axis, then another over the same axis; they may share an epoch."""
    positions = [float(n) for n in range(make.number(3, 15))]
    shared = {"epoch": 1} if make.coin() else {}
    first = steps(make.later(), "global_step", positions, {"loss1": 1} | shared)
    second = steps(make.later(), "global_step", positions, {make.one_of(["loss2", "loss2", "scores"]): 1} | shared)
    return [make.log(0, first + second)]


def two_processes(make: Maker) -> list[Log]:
    """Two processes under one id (or two runs), at one time: other metrics, a shared name, or ranks with the same."""
    stride, count = make.one_of([1, 10]), make.number(4, 15)
    names = make.one_of([("loss", "eval/pass1"), ("loss", "loss"), ("loss", "orchestrator/lag")])
    time, two_runs, logs = make.later(), make.coin(), []
    for part in range(2):
        metrics = {names[part]: 1, "time/step": 1}
        positions = spaced(make, make.one_of([0, stride]), stride, count)
        logs.append(make.log(part if two_runs else 0, steps(time + 7 * part, "global_step", positions, metrics), part))
    if make.coin():
        start = positions[make.number(1, count - 1)]
        rows = steps(make.later(), "global_step", spaced(make, start, stride, count), {"loss": 1})
        logs.append(make.log(0 if make.coin() else 2, rows, 2))
    if make.coin():
        mixed = sorted(logs[0].rows + logs[1].rows, key=lambda row: row.logged_at)
        logs = [replace(logs[0], rows=mixed), *logs[2:]]
    return logs


def declared_axis(make: Maker) -> list[Log]:
    """An axis that only define_metric tells, and step_sync rows before its first real value."""
    axis = make.one_of(["consumed", "env/frames", "num_steps_sampled", "epoch_number"])
    pattern = make.one_of(["*", "*", "loss", "lo*"])
    axes = [Axis(pattern, axis), *([Axis("loss", axis), Axis("val/*", "epoch")] if make.coin() else [])]
    stride, logs, start = make.one_of([1, 100]), [], make.one_of([0, 100])
    for run in range(make.number(1, 2)):
        positions = spaced(make, start or stride, stride, make.number(2, 12))
        rows = steps(make.later(), axis, positions)
        written = make.one_of([None, 0.0, 0.0, positions[-1]])
        for _ in range(make.number(0, 2)):
            metric = make.one_of(["val/loss", "val/loss", "loss"])
            rows.insert(
                0, Row(0, rows[0].logged_at - 5, {metric: 9.0} | ({axis: written} if written is not None else {}))
            )
        for n, row in enumerate(rows):
            row.step = n
        logs.append(make.log(run, rows, axes=axes))
        start = positions[make.number(0, len(positions) - 1)] + stride
    return logs


def tracker_restarts(make: Maker) -> list[Log]:
    """Only the tracker's step, from 0 in each launch, while a counter that is no axis key goes on."""
    logs, seen, count = [], 0.0, make.number(3, 10)
    for run in range(make.number(1, 3)):
        rows = steps(make.later(), "_step", [float(n) for n in range(count)])
        for row in rows:
            seen += 100
            row.values["consumed_samples"] = seen
        logs.append(make.log(0 if make.coin() else run, rows, run))
    return logs


def clock_behind(make: Maker) -> list[Log]:
    """Resumed on a machine whose clock is hours behind; or only the tail of a run is left."""
    rows = steps(make.later(), "global_step", spaced(make, 0, 10, 15))
    tail = steps(make.now - 5 * HOUR, "global_step", spaced(make, 80, 10, make.number(2, 12)))
    logs = [make.log(0, rows), make.log(1, tail)]
    return logs if make.coin() else logs[1:]


def scalar_rows(make: Maker) -> list[Log]:
    """One scalar a row, as TensorBoard writes them; the process goes back in the middle of a log."""
    positions = spaced(make, 10, 10, make.number(2, 8))
    positions += spaced(make, make.one_of(positions), 10, make.number(1, 4))
    metrics, rows = ["loss", "kl", "scores"], []
    for n, position in enumerate(steps(make.later(), "global_step", positions)):
        for metric in metrics[: make.number(1, 3)]:
            rows.append(Row(len(rows), position.logged_at, {"global_step": positions[n], metric: float(n)}))
    return [make.log(0, rows[:40])]


def axis_in_one_run(make: Maker) -> list[Log]:
    """One launch has the key, the next a key of the same last name, or only the tracker's step."""
    positions = spaced(make, 1, 1, make.number(3, 10))
    other = make.one_of(["train/global_step", "train/step", None])
    return [
        make.log(0, steps(make.later(), "global_step", positions)),
        make.log(1, steps(make.later(), other, positions[make.number(0, 2) :], {"loss": 1, "kl": 1})),
    ]


def two_sources(make: Maker) -> list[Log]:
    """One run from its log, the API and an export."""
    rows = steps(make.later(), make.one_of(KEYS), spaced(make, 0, 10, make.number(3, 10)))
    logs = [make.log(0, rows, part=n, kind=kind) for n, kind in enumerate(("log", "api", "export"))]
    for log in logs:
        log.rows = [replace(row, values=dict(row.values)) for row in rows[: make.number(0, len(rows))]]
    return logs


SHAPES = [
    resumed,
    seamed,
    seamed,
    resumed_with_another_config,
    resumed_with_another_config,
    relaunched,
    seeds_in_one_group,
    dense_then_rare,
    evaluated,
    validated_first,
    second_pass,
    two_processes,
    declared_axis,
    tracker_restarts,
    clock_behind,
    scalar_rows,
    axis_in_one_run,
    two_sources,
]
