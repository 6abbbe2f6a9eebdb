"""Campaigns of every shape and of several at once, disturbed, with declared facts."""

import math
from collections.abc import Callable

from hypothesis import strategies as st

from tests.python.support.stitch.axes import Declared, Log
from tests.python.support.stitch.kinds import SHAPES
from tests.python.support.stitch.make import Maker


@st.composite
def campaigns(draw: Callable, shapes: list | None = None) -> tuple[list[Log], Declared]:
    """Up to six runs of up to forty rows each, of one to three shapes; those of one name are combined."""
    logs: list[Log] = []
    now = 1_780_000_000.0
    for shape in range(draw(st.integers(1, 3))):
        name = draw(st.sampled_from([f"arm{shape}", f"arm{shape}", "grpo"]))
        make = Maker(draw, shape, now, name)
        made = draw(st.sampled_from(shapes or SHAPES))(make)
        if len({log.run_id for log in logs + made}) > 6:
            break
        logs += made
        now = make.now
    for log in logs:
        log.rows = log.rows[:40]
        if draw(st.integers(0, 2)) == 0:
            _disturb(draw, log)
    return logs, _declared(draw, logs)


def _disturb(draw: Callable, log: Log) -> None:
    """Rows without time, step or key, nulls, NaN and text, a metric of its own, a step back in time."""
    for row in log.rows:
        what = draw(st.integers(0, 24))
        if what == 0:
            row.logged_at = None
        elif what == 1:
            row.step = None
        elif what == 2 and row.values:
            del row.values[draw(st.sampled_from(sorted(row.values)))]
        elif what == 3 and row.values:
            metric = draw(st.sampled_from(sorted(row.values)))
            row.values[metric] = draw(st.sampled_from([None, math.nan, math.inf, "text"]))
        elif what == 4:
            row.values = {draw(st.sampled_from(["setup/size", "_private", "eval/pass1", "epoch"])): 3.0}
    if draw(st.integers(0, 9)) == 0:
        log.started_at = None


def _declared(draw: Callable, logs: list[Log]) -> Declared:
    run_ids, rare = sorted({log.run_id for log in logs}), draw(st.integers(0, 3)) == 0
    if not rare:
        return Declared()
    arms = ["grpo", "arm0", "grpo [seed=1]", "one arm"]
    times = st.one_of(st.none(), st.sampled_from(sorted({log.started_at for log in logs if log.started_at} | {0.0})))
    assignment = st.one_of(
        st.tuples(st.just("run_id"), st.sampled_from(run_ids), st.just("one arm")),
        st.tuples(st.just("run_pattern"), st.sampled_from(["s?r0", "*"]), st.sampled_from(["one arm", "{run_id}"])),
        st.tuples(
            st.just("name_pattern"), st.sampled_from(["grpo*", "arm?"]), st.sampled_from(["one arm", "{run_name}"])
        ),
        st.tuples(st.just("group_pattern"), st.just("stu*"), st.sampled_from(["grouped", "{group}", "{run_name}"])),
    )
    exclusion = st.tuples(
        st.one_of(st.none(), st.sampled_from(run_ids)), st.one_of(st.none(), st.sampled_from(arms)), times, times
    )
    return Declared(
        assignments=draw(st.lists(assignment, max_size=2)),
        exclusions=draw(st.lists(exclusion, max_size=1)),
        unlearned=draw(st.lists(st.sampled_from([("*", "seed"), ("gr*", "optim.lr")]), max_size=1)),
        position_keys=draw(
            st.dictionaries(st.sampled_from(arms), st.sampled_from(["_step", "global_step", "epoch"]), max_size=1)
        ),
        headline_metrics=draw(
            st.dictionaries(st.sampled_from(arms), st.sampled_from(["loss2", "eval/pass1"]), max_size=1)
        ),
        leaf_run_ids=draw(st.dictionaries(st.sampled_from(arms), st.sampled_from(run_ids), max_size=1)),
    )
