"""Logs that share a run or a name and redo nothing of each other: passes, processes, ranks."""

from simulate.shapes.planted import Shape, beside, lost, step


def second_pass(shape: Shape) -> None:
    """One process writes one metric over the whole axis, then another over the same axis, at every second position."""
    count = shape.rng.randrange(12, 40)
    log = shape.log(shape.run(), "global_step", has_exit=True)
    for n in range(count):
        log.add({"global_step": n, "epoch": 0, "loss1": shape.noise()}, step(n + 1, n))
    for n in range(0, count, 2):
        place = beside(n + 1, n, "logged", ["epoch"], track=2)
        log.add({"global_step": n, "epoch": 1, "loss2": shape.noise()}, place)


def two_processes(shape: Shape) -> None:
    """A trainer and an evaluator write under one run id at one time.

    The trainer dies and resumes, the evaluator does not: what it had evaluated beyond the checkpoint was lost with it.
    """
    reached = shape.rng.randrange(18, 30)
    checkpoint = shape.rng.randrange(5, reached - 5)
    run = shape.run()
    places = {n: step(n, n) if n <= checkpoint else lost("rolled_back", n, run.run_id) for n in range(1, reached + 1)}
    trainer = shape.log(run, "global_step")
    shape.train(trainer, "global_step", places.values())
    evaluator = shape.log(run, "global_step", starts_at=trainer.started_at + 7)
    evaluator.seconds = 4 * trainer.seconds
    for n in range(4, reached + 1, 4):
        is_lost = n > checkpoint
        place = lost("rolled_back", n, run.run_id, track=2) if is_lost else beside(n, n, "logged", track=2)
        evaluator.add({"global_step": n, "eval/pass1": shape.noise()}, place)
    resumed = shape.log(run, "global_step", has_exit=True)
    shape.train(resumed, "global_step", [step(n, n) for n in range(checkpoint + 1, reached + 6)])


def orchestrator_and_trainer(shape: Shape) -> None:
    """Two processes under one id, and the rarer one logs the headline metric: its rows number the steps.

    Of the trainer's rows between two of them the last stands, and all of them stay in run_rows.
    """
    every, count = shape.rng.randrange(3, 6), shape.rng.randrange(5, 10)
    last = every * count + shape.rng.randrange(0, every)
    run = shape.run()
    trainer = shape.log(run, "step", has_exit=True)
    for n in range(1, last + 1):
        ordinal = max(1, n // every)
        is_last = n == last or max(1, (n + 1) // every) > ordinal
        overridden = ["step"] if is_last else ["step", "train/loss"]
        place = beside(ordinal, n, "logged", overridden)
        trainer.add({"step": n, "train/loss": shape.noise()}, place)
    orchestrator = shape.log(run, "step", has_exit=True, starts_at=trainer.started_at + 11)
    orchestrator.seconds = every * trainer.seconds
    for n in range(1, count + 1):
        orchestrator.add({"step": every * n, "scores": shape.noise()}, step(n, every * n, track=2))


def ranks_of_one_name(shape: Shape) -> None:
    """Every rank of a job logs the same metrics under the job's name: one of them is the curve, and it is said."""
    count, ranks = shape.rng.randrange(8, 20), shape.rng.randrange(2, 5)
    started_at, seconds = 0.0, 60.0
    for rank in range(ranks):
        run = shape.run(f"rank{rank}", group="job", config={"rank": rank})
        log = shape.log(run, "global_step", has_exit=True, starts_at=started_at + rank if rank else None)
        started_at, seconds = (log.started_at, log.seconds) if rank == 0 else (started_at, seconds)
        log.seconds = seconds
        is_curve = rank == ranks - 1
        places = [step(n, n) if is_curve else lost("other_lineage", n) for n in range(1, count + 1)]
        shape.train(log, "global_step", places)
    shape.finds("several_complete_starts")
    shape.finds("concurrent_segments")


def ranks_of_other_names(shape: Shape) -> None:
    """Every rank of a job in one group, named by its rank: a curve each."""
    count = shape.rng.randrange(6, 16)
    for rank in range(shape.rng.randrange(2, 4)):
        run = shape.run(f"rank{rank}", run_name=f"{shape.name}-{rank}", group="job")
        shape.train(shape.log(run, "global_step"), "global_step", [step(n, n) for n in range(1, count + 1)])
