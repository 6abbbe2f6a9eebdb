"""Runs under one name or in one group that are different experiments, and a run that resumes with another config."""

from collections.abc import Mapping

from simulate.shapes.planted import Run, Shape, lost, step


def seeds_in_one_group(shape: Shape) -> None:
    """A W&B group of one name: each seed is a curve of its own."""
    for seed in range(1, shape.rng.randrange(3, 6)):
        run = shape.run(
            f"s{seed}",
            arm=f"{shape.name} [seed={seed}]",
            evidence="identity",
            variant_of=shape.name,
            seed=str(seed),
            group="seeds",
            config={"seed": seed},
        )
        _whole_curve(shape, run, "global_step", 1024)
    shape.finds("arms_differ_in_config_alone")


def techniques_in_one_group(shape: Shape) -> None:
    """A W&B group of other names: a group names no arm."""
    for technique in ("baseline", "tied-embeddings", "wider-mlp"):
        run = shape.run(technique, run_name=f"{shape.name}-{technique}", group="techniques")
        _whole_curve(shape, run, "train/step", 1)


def one_default_name(shape: Shape) -> None:
    """A script's default name, launched with other environments and learning rates, and once without stating any."""
    plans = [("Ant-v4", 0.0003), ("Ant-v4", 0.001), ("Hopper-v4", 0.0003)]
    for i, (env, rate) in enumerate(plans):
        arm = f"{shape.name} [env_id={env}, lr={rate}]"
        config = {"env_id": env, "optim": {"lr": rate, "eps": 1e-5 * (i + 1)}}
        run = shape.run(f"r{i}", arm=arm, evidence="identity", variant_of=shape.name, config=config)
        _whole_curve(shape, run, "train/global_step", 1)
    run = shape.run("bare", arm=shape.name, evidence="identity", variant_of=shape.name)
    _whole_curve(shape, run, "train/global_step", 1)
    shape.finds("arms_differ_in_config_alone")


def launch_tails(shape: Shape) -> None:
    """Names that end in seed and epoch, as CleanRL writes them; one seed crashed and resumed, one states it nowhere."""
    base = f"CartPole-v1__{shape.name}"

    def launched(tail: str, seed: int, config: Mapping[str, object]) -> Run:
        return shape.run(
            tail,
            run_name=f"{base}__{seed}__{shape.rng.randrange(1_690_000_000, 1_700_000_000)}",
            arm=f"{base} [seed={seed}]",
            evidence="identity",
            variant_of=base,
            seed=str(seed),
            config=config,
        )

    said = {"exp_name": shape.name, "env_id": "CartPole-v1"}
    first = launched("first", 1, said | {"seed": 1})
    resumed = launched("resumed", 1, said | {"seed": 1})
    reached, checkpoint = shape.rng.randrange(8, 14), shape.rng.randrange(3, 7)
    _crash_and_resume(shape, first, resumed, reached, checkpoint, reached + shape.rng.randrange(3, 9))
    _whole_curve(shape, launched("second", 2, said | {"seed": 2}), "global_step", 256)
    _whole_curve(shape, launched("silent", 3, said), "global_step", 256)
    shape.finds("arms_differ_in_config_alone", base)


def other_rate_after_resume(shape: Shape) -> None:
    """A run that starts where another of its name had been stays with it, though its learning rate is new."""

    def launched(tail: str, own: float, arm_rate: float, evidence: str) -> Run:
        arm = f"{shape.name} [learning_rate={arm_rate}]"
        config = {"learning_rate": own}
        return shape.run(tail, arm=arm, evidence=evidence, variant_of=shape.name, config=config)

    short = launched("short", 0.001, 0.001, "identity")
    shape.train(shape.log(short, "global_step"), "global_step", [step(n, 256 * n) for n in range(1, 6)])
    reached = shape.rng.randrange(16, 24)
    first, resumed = launched("first", 0.003, 0.003, "identity"), launched("resumed", 0.0001, 0.003, "resumed")
    _crash_and_resume(shape, first, resumed, reached, reached - shape.rng.randrange(2, 6), reached + 10)
    shape.finds("arms_differ_in_config_alone")


def _whole_curve(shape: Shape, run: Run, key: str, stride: int) -> None:
    count = shape.rng.randrange(6, 16)
    log = shape.log(run, key, has_exit=True)
    shape.train(log, key, [step(n, stride * n) for n in range(1, count + 1)])


def _crash_and_resume(shape: Shape, first: Run, resumed: Run, reached: int, checkpoint: int, last: int) -> None:
    """Steps 1 to `reached`, then from the one after the checkpoint to the last; 256 episodes each."""
    kept = [step(n, 256 * n) for n in range(1, checkpoint + 1)]
    redone = [lost("rolled_back", 256 * n, resumed.run_id) for n in range(checkpoint + 1, reached + 1)]
    shape.train(shape.log(first, "global_step"), "global_step", kept + redone)
    log = shape.log(resumed, "global_step", has_exit=True)
    shape.train(log, "global_step", [step(n, 256 * n) for n in range(checkpoint + 1, last + 1)])
