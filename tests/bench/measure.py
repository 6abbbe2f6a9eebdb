"""Seconds and peak memory of a piece of work, in a fresh process of its own."""

import multiprocessing
import os
import resource
import sys
import time
from collections.abc import Callable
from typing import NamedTuple


class Measured(NamedTuple):
    """Wall seconds, peak resident megabytes (imports included), and what the work returned."""

    seconds: float
    peak_mb: float
    result: object


def measure(work: Callable, *arguments: object, one_core: bool = True) -> Measured:
    """Run `work(*arguments)`, a module-level function, in a fresh process: on one core, or on all."""
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_run, args=(sender, one_core, work, arguments))
    process.start()
    sender.close()
    try:
        return receiver.recv()
    finally:
        process.join()


def _run(sender, one_core: bool, work: Callable, arguments: tuple) -> None:
    if one_core and sys.platform == "linux":
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    started = time.perf_counter()
    result = work(*arguments)
    seconds = time.perf_counter() - started
    sender.send(Measured(seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, result))
