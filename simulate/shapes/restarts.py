"""Crashes and resumes, relaunches from scratch, and tails whose head is not there."""

from simulate.shapes.planted import Shape, lost, step


def resumed_under_trainer_global_step(shape: Shape) -> None:
    """Lightning's counter, every 50 steps; the second launch keeps the run's id."""
    _crash_and_resume(shape, "trainer/global_step", 50, ["first", "first", "third"])


def resumed_under_train_step(shape: Shape) -> None:
    _crash_and_resume(shape, "train/step", 1, ["first", "second"])


def resumed_under_rollout_step(shape: Shape) -> None:
    """Each launch is named by its hour, too."""
    _crash_and_resume(shape, "rollout/step", 10, ["first", "second", "third"], "_2026-10-0{}_08-30-00")


def dense_then_rare(shape: Shape) -> None:
    """Each of the first steps, then every 200th, with a validation at 0; resumed in the rare part. No step is lost."""
    dense, rare = shape.rng.randrange(4, 9), shape.rng.randrange(14, 22)
    positions = [*range(dense), *(200 * n for n in range(1, rare + 1))]
    checkpoint = 200 * shape.rng.randrange(4, rare - 2)
    first, resumed = shape.run("first"), shape.run("resumed")
    ordinals = {position: n for n, position in enumerate(positions, 1)}
    log = shape.log(first, "train/step")
    for position in positions:
        is_kept = position <= checkpoint
        place = step(ordinals[position], position) if is_kept else lost("rolled_back", position, resumed.run_id)
        validated = {"val/loss": shape.noise()} if position % 1000 == 0 else {}
        log.add({"train/step": position, "train/loss": shape.noise()} | validated, place)
    log = shape.log(resumed, "train/step", has_exit=True)
    shape.train(log, "train/step", [step(ordinals[p], p) for p in positions if p > checkpoint], ["train/loss"])


def coarser_relaunch(shape: Shape) -> None:
    """Relaunched from scratch with a row every few steps, and dead soon: it is the curve, and a finding says so.

    The first launch had passed its first row: by position alone it would be a resume.
    """
    count, died_after, every = shape.rng.randrange(31, 48), shape.rng.randrange(2, 5), shape.rng.randrange(3, 6)
    log = shape.log(shape.run("first"), "global_step")
    shape.train(log, "global_step", [lost("other_lineage", n) for n in range(1, count + 1)])
    log = shape.log(shape.run("relaunched"), "global_step")
    shape.train(log, "global_step", [step(n, every * n) for n in range(1, died_after + 1)])
    shape.finds("longer_lineage_not_chosen")


def repeats_without_seeds(shape: Shape) -> None:
    """The same job run whole several times under one name; nothing that is logged tells them apart."""
    count, repeats = shape.rng.randrange(8, 20), shape.rng.randrange(2, 5)
    for repeat in range(1, repeats + 1):
        log = shape.log(shape.run(f"r{repeat}"), "global_step", has_exit=True)
        is_last = repeat == repeats
        places = [step(n, 64 * n) if is_last else lost("other_lineage", 64 * n) for n in range(1, count + 1)]
        shape.train(log, "global_step", places)
    shape.finds("several_complete_starts")


def clock_behind(shape: Shape) -> None:
    """Resumed on a machine whose clock is hours behind: it seems to come first, and to continue nothing."""
    reached = shape.rng.randrange(20, 30)
    log = shape.log(shape.run("first"), "global_step")
    shape.train(log, "global_step", [step(n + 1, 10 * n) for n in range(reached + 1)])
    resumed = shape.run("resumed")
    early = shape.log(resumed, "global_step", has_exit=True, starts_at=log.started_at - 5 * 3600)
    restart = reached - shape.rng.randrange(4, 12)
    shape.train(early, "global_step", [lost("other_lineage", 10 * n) for n in range(restart, restart + reached)])
    shape.finds("orphan_start", resumed.run_id)


def lone_tail(shape: Shape) -> None:
    """Only the last launch's log is left."""
    start = shape.rng.randrange(40, 90)
    log = shape.log(shape.run(), "train/global_step", has_exit=True)
    shape.train(log, "train/global_step", [step(n, 10 * (start + n)) for n in range(1, shape.rng.randrange(8, 20))])
    shape.finds("late_start")


def two_cadences(shape: Shape) -> None:
    """Two arms of one project, with a row a step and a row every 10 steps: their n-th rows are not comparable."""
    for stride in (1, 10):
        log = shape.log(shape.run(f"every-{stride}", run_name=f"{shape.name}-{stride}"), "train/global_step")
        shape.train(log, "train/global_step", [step(n, stride * n) for n in range(1, shape.rng.randrange(8, 14))])
    shape.finds("logging_intervals_differ")


def _crash_and_resume(shape: Shape, key: str, stride: int, ids: list[str], name_tail: str = "") -> None:
    """A launch for each run id, each from a checkpoint of the one before; a row every `stride`."""
    first, reached = [1], [shape.rng.randrange(8, 16)]
    for _ in ids[1:]:
        first.append(shape.rng.randrange(first[-1] + 2, reached[-1] + 1))
        reached.append(reached[-1] + shape.rng.randrange(3, 12))
    evidence = "launch_name" if name_tail else "run_name"
    names = [shape.name + name_tail.format(i + 1) for i in range(len(ids))]
    runs = [
        shape.run(tail, arm=shape.name, run_name=name, evidence=evidence) for tail, name in zip(ids, names, strict=True)
    ]
    for i, run in enumerate(runs):
        log = shape.log(run, key, has_exit=i == len(runs) - 1)
        places = []
        for n in range(first[i], reached[i] + 1):
            heirs = [j for j in range(i + 1, len(runs)) if first[j] <= n]
            places.append(lost("rolled_back", stride * n, runs[heirs[0]].run_id) if heirs else step(n, stride * n))
        shape.train(log, key, places)
