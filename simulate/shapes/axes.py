"""Axes: told by the run alone, written before their first value, renamed, counted by W&B alone, or not there."""

from simulate.shapes.planted import UNPOSITIONED, Shape, beside, lost, step


def axis_told_by_define_metric(shape: Shape) -> None:
    """`define_metric("*", step_metric="consumed")`: no list of names knows this axis. Crashed and resumed."""
    stride, reached = shape.rng.choice([100, 512]), shape.rng.randrange(8, 20)
    checkpoint = shape.rng.randrange(3, reached)
    first, resumed, axes = shape.run("first"), shape.run("resumed"), {"*": "consumed"}
    kept = [step(n, stride * n) for n in range(1, checkpoint + 1)]
    redone = [lost("rolled_back", stride * n, resumed.run_id) for n in range(checkpoint + 1, reached + 1)]
    shape.train(shape.log(first, "consumed", axes=axes), "consumed", kept + redone)
    log = shape.log(resumed, "consumed", axes=axes, has_exit=True)
    shape.train(log, "consumed", [step(n, stride * n) for n in range(checkpoint + 1, reached + 8)])


def synced_before_the_first_value(shape: Shape) -> None:
    """W&B's step_sync writes the axis into rows logged before its first real value: 0, or the last one of the run's id.

    Such rows lie on the first real step and start nothing. In the first launch the 0 is real: validation before step 1.
    Training logs every 5 steps, so that W&B's own step tells no position.
    """
    key, axes = "train/step", {"*": "train/step"}
    ends = [shape.rng.randrange(12, 20)]
    starts = [0, shape.rng.randrange(5, ends[0])]
    ends.append(ends[0] + shape.rng.randrange(4, 9))
    starts.append(shape.rng.randrange(ends[0] + 1, ends[1]))
    ends.append(ends[1] + shape.rng.randrange(4, 9))
    runs = [shape.run("first"), shape.run("second"), shape.run("second")]
    for i, run in enumerate(runs):
        log = shape.log(run, key, axes=axes, has_exit=i == 2)
        heirs = {n: [j for j in range(i + 1, 3) if starts[j] <= n] for n in range(starts[i], ends[i] + 1)}
        places = {
            n: lost("rolled_back", 5 * n, runs[later[0]].run_id) if later else step(n + 1, 5 * n)
            for n, later in heirs.items()
        }
        if i == 0:
            log.add({key: 0, "val/loss": shape.noise()}, places.pop(0))
        else:
            written = 0 if i == 1 else 5 * ends[1]
            for metric in ("val/loss", "val/accuracy"):
                log.add({key: written, metric: shape.noise()}, beside(starts[i] + 1, 5 * starts[i], overridden=[key]))
        shape.train(log, key, places.values())


def key_renamed(shape: Shape) -> None:
    """The resumed launch, of a newer script, logs `train/global_step` where the first logged `global_step`."""
    reached = shape.rng.randrange(8, 16)
    checkpoint = shape.rng.randrange(3, reached)
    first, resumed = shape.run("first"), shape.run("resumed")
    kept = [step(n, n) for n in range(1, checkpoint + 1)]
    redone = [lost("rolled_back", n, resumed.run_id) for n in range(checkpoint + 1, reached + 1)]
    shape.train(shape.log(first, "global_step"), "global_step", kept + redone)
    log = shape.log(resumed, "global_step", has_exit=True)
    places = [step(n, n, "step_metric") for n in range(checkpoint + 1, reached + 8)]
    shape.train(log, "train/global_step", places)


def tracker_step_restarts(shape: Shape) -> None:
    """W&B's step alone, from 0 in each launch, while a counter that is no axis goes on: the last launch is the curve.

    The finding names the counter.
    """
    seen, launches = 0, shape.rng.randrange(2, 4)
    for launch in range(1, launches + 1):
        log = shape.log(shape.run(f"launch{launch}"), "_step", has_exit=launch == launches)
        for n in range(shape.rng.randrange(4, 7) + 4 * launch):
            seen += 512
            place = step(n + 1, n) if launch == launches else lost("other_lineage", n)
            log.add({"consumed_samples": seen, "train/loss": shape.noise()}, place)
    shape.finds("axis_restarts")


def log_without_an_axis(shape: Shape) -> None:
    """An evaluation job under the trainer's name that logs no axis at all: its metrics are lost, and named."""
    log = shape.log(shape.run("trainer"), "train/step", has_exit=True)
    shape.train(log, "train/step", [step(n, 5 * n) for n in range(1, shape.rng.randrange(8, 16))])
    log = shape.log(shape.run("judge"), "train/step", has_exit=True)
    for _ in range(shape.rng.randrange(2, 6)):
        log.add({"judge/score": shape.noise()}, UNPOSITIONED)
    shape.finds("unpositioned_metrics")
