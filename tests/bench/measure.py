"""Seconds and peak memory of a piece of work, in a fresh process of its own."""

import multiprocessing
import os
import resource
import sys
import time
from collections.abc import Callable
from typing import NamedTuple


class Measured(NamedTuple):
    """Wall seconds, peak resident megabytes (imports included), what the work returned, processor seconds.

    The processor's seconds are the process's own, without those of its children; beside other work on the machine they
    are the fairer measure of work on one core.
    """

    seconds: float
    peak_mb: float
    result: object
    cpu_seconds: float


def measure(work: Callable, *arguments: object, one_core: bool = True, warm_up: tuple = ()) -> Measured:
    """Run `work(*arguments)`, a module-level function, in a fresh process: on one core, or on all.

    Where `warm_up` is given, `work(*warm_up)` runs before and is not timed: it loads libraries.
    """
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_run, args=(sender, one_core, work, arguments, warm_up))
    process.start()
    sender.close()
    try:
        return receiver.recv()
    finally:
        process.join()


def _run(sender, one_core: bool, work: Callable, arguments: tuple, warm_up: tuple) -> None:
    if one_core and sys.platform == "linux":
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    if warm_up:
        work(*warm_up)
    started, cpu_started = time.perf_counter(), time.process_time()
    result = work(*arguments)
    seconds, cpu_seconds = time.perf_counter() - started, time.process_time() - cpu_started
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    sender.send(Measured(seconds, peak_mb, result, cpu_seconds))
