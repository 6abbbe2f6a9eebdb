"""Evaluation rows: without an axis, with their own, late, and before training. None of them is lost."""

from simulate.shapes.planted import Log, Place, Shape, beside, lost, step


def evaluation_between_rollouts(shape: Shape) -> None:
    """Open-instruct: the axis counts episodes, evaluations and setup have none. They lie on the step before them.

    The resume redoes the last step a few episodes later: one step of the curve, which keeps the evaluation that the
    first launch made of it.
    """
    count = 4 * shape.rng.randrange(2, 5)
    last, offset = count + shape.rng.randrange(5, 12), shape.rng.randrange(10, 60)
    first, resumed = shape.run("first"), shape.run("resumed")

    def episodes(n: int) -> int:
        return 320 + 1024 * (n - 1)

    log = shape.log(first, "global_step")
    log.add({"setup/vocabulary_tokens": 151_936}, beside(1, episodes(1)))
    for n in range(1, count + 1):
        place = step(n, episodes(n)) if n < count else lost("seam_collapsed", episodes(n), resumed.run_id)
        shape.train(log, "global_step", [place], ["scores", "loss/policy_avg"])
        if n % 4 == 0:
            log.add({"eval/pass1": shape.noise()}, beside(n, episodes(n)))
    log = shape.log(resumed, "global_step", has_exit=True)
    for n in range(count, last + 1):
        shape.train(log, "global_step", [step(n, episodes(n) + offset)], ["scores", "loss/policy_avg"])
        if n % 4 == 0 and n > count:
            log.add({"eval/pass1": shape.noise()}, beside(n, episodes(n) + offset))


def late_evaluation(shape: Shape) -> None:
    """An asynchronous evaluation of step n, logged with the key when training is two steps further, redoes nothing.

    What was evaluated before the checkpoint stays, though it was logged after the steps that the resume redid.
    """
    count, checkpoint = 5 * shape.rng.randrange(3, 5) + 3, 10
    first, resumed = shape.run("first"), shape.run("resumed")

    def place(n: int) -> Place:
        return step(n, n) if n <= checkpoint else lost("rolled_back", n, resumed.run_id)

    log = shape.log(first, "trainer/global_step")
    for n in range(1, count + 1):
        shape.train(log, "trainer/global_step", [place(n)])
        evaluated = n - 2
        if evaluated > 0 and evaluated % 5 == 0 and n < count:
            log.add({"trainer/global_step": evaluated, "eval/pass1": shape.noise()}, place(evaluated))
    log = shape.log(resumed, "trainer/global_step", has_exit=True)
    for n in range(checkpoint + 1, count + 6):
        shape.train(log, "trainer/global_step", [step(n, n)])


def own_axis_declared(shape: Shape) -> None:
    """`define_metric("eval/*", step_metric="eval/global_step")`: evaluations lie where that says, the first at 0."""
    log = shape.log(shape.run(), "train/global_step", axes={"eval/*": "eval/global_step"}, has_exit=True)
    log.add(_evaluated(shape, 0), step(1, 0, "step_metric"))
    for n in range(1, 5 * shape.rng.randrange(4, 8) + 1):
        shape.train(log, "train/global_step", [step(n + 1, n)])
        if n % 5 == 0:
            log.add(_evaluated(shape, n), beside(n + 1, n, "step_metric"))


def own_axis_undeclared(shape: Shape) -> None:
    """The same, told by the last part of the key alone; training logs every 10, evaluations lie between.

    Each of those is a step of the curve. Beside them `rollout/global_step` counts another thing and places nothing.
    """
    count = shape.rng.randrange(12, 24)
    evaluated = {10 * n + 5 for n in range(3, count, 4)}
    ordinals = {p: n for n, p in enumerate(sorted(evaluated | {10 * n for n in range(1, count + 1)}), 1)}
    log = shape.log(shape.run(), "train/global_step", has_exit=True)
    for n in range(1, count + 1):
        shape.train(log, "train/global_step", [step(ordinals[10 * n], 10 * n)])
        if n % 3 == 0:
            rolled_out = {"rollout/global_step": 100_000 * n, "rollout/length": shape.noise()}
            log.add(rolled_out, beside(ordinals[10 * n], 10 * n))
        if 10 * n + 5 in evaluated:
            log.add(_evaluated(shape, 10 * n + 5), step(ordinals[10 * n + 5], 10 * n + 5, "step_metric"))


def validated_before_training(shape: Shape) -> None:
    """verl: validation before training has no key, but W&B's step is the trainer's: it is at 0, and a step of its own.

    The resumed launch validates its checkpoint again: the step is trained by the first launch, its reward is the newer.
    """
    key, checkpoint = "training/global_step", 5 * shape.rng.randrange(1, 4)
    reached = checkpoint + shape.rng.randrange(2, 9)
    first, resumed = shape.run("first"), shape.run("resumed")

    def train(log: Log, n: int, place: Place) -> None:
        validated = {"val/reward": shape.noise()} if n % 5 == 0 else {}
        log.add({key: n, "actor/loss": shape.noise()} | validated, place)

    log = shape.log(first, key)
    log.add({"val/reward": shape.noise()}, step(1, 0, "tracker_step"))
    for n in range(1, checkpoint):
        train(log, n, step(n + 1, n))
    train(log, checkpoint, step(checkpoint + 1, checkpoint, overridden=["val/reward"]))
    for n in range(checkpoint + 1, reached + 1):
        train(log, n, lost("rolled_back", n, resumed.run_id))
    log = shape.log(resumed, key, has_exit=True, first_step=checkpoint)
    log.add({"val/reward": shape.noise()}, beside(checkpoint + 1, checkpoint, "tracker_step"))
    for n in range(checkpoint + 1, reached + 8):
        train(log, n, step(n + 1, n))


def _evaluated(shape: Shape, position: int) -> dict[str, object]:
    return {"eval/global_step": position, "eval/pass1": shape.noise()}
