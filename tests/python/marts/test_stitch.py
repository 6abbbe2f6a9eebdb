"""The curve models against an oracle in plain Python, on histories that hypothesis makes up."""

import math
import os
from datetime import datetime, timedelta

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.python.support.models import Models
from tests.python.support.stitch_oracle import Declared, Log, curve_values, holes, stitch

EPOCH = datetime(2026, 9, 1)
MARTS = ["run_rows", "arm_steps", "arm_metrics", "arms", "segments", "runs", "curve_findings"]


@pytest.fixture(scope="module", params=["latest", "furthest"])
def models(request, tmp_path_factory):
    made = Models(tmp_path_factory.mktemp("home"), MARTS, {"lineage_choice": request.param})
    made.lineage_choice = request.param
    return made


def moment(seconds):
    return None if seconds is None else EPOCH + timedelta(seconds=seconds)


def landing(logs: list[Log], declared: Declared) -> dict[str, list[dict]]:
    """The landing rows of these logs, as the readers would land them. The arm travels as the display name."""
    tables = {name: [] for name in ("history_logs", "landed_sources", "history_rows", "history_values")}
    for log in logs:
        tables["landed_sources"].append({"source_name": log.log_id, "path": log.log_id, "kind": "wandb"})
        tables["history_logs"].append(
            {
                "source_name": log.log_id,
                "run_id": log.run_id,
                "producer": "wandb",
                "source_kind": log.kind,
                "run_name": log.arm,
                "started_at": moment(log.started_at),
                "has_exit_record": False,
                "history_row_count": len(log.rows),
            }
        )
        for row_idx, (time, values) in enumerate(log.rows):
            key = {"source_name": log.log_id, "row_idx": row_idx}
            tables["history_rows"].append(key | {"record_number": row_idx + 2, "logged_at": moment(time)})
            for metric, value in values.items():
                is_text = isinstance(value, str)
                tables["history_values"].append(
                    key
                    | {
                        "metric": metric,
                        "value": None if is_text or value is None else float(value),
                        "value_text": value if is_text else None,
                    }
                )
    tables["run_exclusions"] = [
        {"run_id": r, "arm": a, "logged_from": moment(f), "logged_until": moment(u), "reason": "wrong parser"}
        for r, a, f, u in declared.exclusions
    ]
    arms = {*declared.position_keys, *declared.leaf_run_ids}
    tables["arms"] = [
        {"arm": a, "position_key": declared.position_keys.get(a), "leaf_run_id": declared.leaf_run_ids.get(a)}
        for a in sorted(arms)
    ]
    return tables


def check(models: Models, logs: list[Log], declared: Declared) -> None:
    """Every label, ordinal, ratio and value of the models equals the oracle's."""
    models.run(landing(logs, declared))
    expected = stitch(logs, declared, models.lineage_choice)

    def close(a, b):
        return (a is None and b is None) or (a is not None and b is not None and math.isclose(a, b, rel_tol=1e-12))

    found = {
        (log_id, row_idx): rest
        for log_id, row_idx, *rest in models.rows(
            "select log_id, row_idx, drop_reason, superseded_by_run_id, training_step, segment_number, position, "
            "gap_ratio from run_rows"
        )
    }
    assert len(found) == len(expected)
    for row in expected:
        label, by, step, segment, position, ratio = found[row.log.log_id, row.row_idx]
        assert (label, by, step, segment) == (row.label, row.superseded_by, row.training_step, row.segment_number), row
        assert position == row.position, row
        assert close(ratio, row.gap_ratio), row

    values = {
        (arm, step, metric): text if text is not None else value
        for arm, step, metric, value, text in models.rows(
            "select arm, training_step, metric, value, value_text from arm_metrics"
        )
    }
    wanted = curve_values(expected)
    assert values.keys() == wanted.keys()
    for key, value in wanted.items():
        same = values[key] == value or (value != value and values[key] != values[key])
        assert same, key

    steps = models.rows("select arm, training_step, position, row_count, logged_at from arm_steps")
    kept = [r for r in expected if r.training_step]
    assert {s[:3] for s in steps} == {(r.log.arm, r.training_step, r.position) for r in kept}
    for arm, step, _, _, logged_at in steps:
        times = [r.time for r in kept if (r.log.arm, r.training_step) == (arm, step) and r.time is not None]
        assert logged_at == (moment(max(times)) if times else None)
    assert sum(s[3] for s in steps) == len(kept)
    assert {a for (a,) in models.rows("select arm from arms where has_step_hole")} == holes(expected)

    for run_id, row_count, kept_count, rolled_back, collapsed in models.rows(
        "select run_id, row_count, kept_row_count, rolled_back_row_count, seam_collapsed_row_count from runs"
    ):
        of_run = [r for r in expected if r.log.run_id == run_id]
        assert row_count == len(of_run)
        assert kept_count == sum(r.label is None for r in of_run)
        assert rolled_back == sum(r.label == "rolled_back" for r in of_run)
        assert collapsed == sum(r.label == "seam_collapsed" for r in of_run)


VALUES = st.one_of(
    st.none(),
    st.just(math.nan),
    st.just(0.0),
    st.floats(-1e9, 1e9),
    st.sampled_from(['"text"', '{"_type":"histogram"}']),
)
KEYS = st.sampled_from(["global_step", "global_step", "global_step", "train/global_step", "_step", "tokens"])


@st.composite
def one_log(draw, number: int, run_ids: list[str], arms: list[str], now: int) -> Log:
    run = draw(st.integers(0, len(run_ids) - 1))
    key = draw(KEYS)
    position = draw(st.integers(0, 120))
    stride = draw(st.sampled_from([1, 10, 10, 10, 100]))
    rows, time = [], now
    for _ in range(draw(st.integers(0, 14))):
        values = {}
        if draw(st.integers(0, 11)):
            values[key] = float(position)
        elif draw(st.booleans()):
            values[key] = draw(st.sampled_from([None, math.nan, math.inf, '"text"']))
        for metric in ("scores", "loss", "_runtime"):
            if draw(st.booleans()):
                values[metric] = draw(VALUES)
        rows.append((None if draw(st.integers(0, 15)) == 0 else time, values))
        time += draw(st.integers(0, 3))
        move = draw(st.integers(0, 15))
        if move == 0:
            position -= draw(st.integers(1, 60))
        elif move == 1:
            position += 1
        elif move == 2:
            position += 7 * stride
        elif move > 3:
            position += stride
    started = draw(st.sampled_from([now, now, now, None]))
    # A run has one kind of source most of the time, and one arm always.
    kind = draw(st.sampled_from(["log", "log", "log", "log", "api", "export"]))
    return Log(f"log{number:02}", run_ids[run], arms[run % len(arms)], kind, started, rows)


@st.composite
def campaigns(draw) -> tuple[list[Log], Declared]:
    arms = [f"arm{i}" for i in range(draw(st.integers(1, 3)))]
    run_ids = [f"run{i}" for i in range(draw(st.integers(1, 6)))]
    logs, now = [], 0
    for number in range(draw(st.integers(1, 8))):
        logs.append(draw(one_log(number, run_ids, arms, now)))
        now += draw(st.sampled_from([0, 3, 20, 60]))
    exclusions = draw(
        st.lists(
            st.tuples(
                st.sampled_from([None, *run_ids]),
                st.sampled_from([None, *arms]),
                st.one_of(st.none(), st.integers(0, 100)),
                st.one_of(st.none(), st.integers(0, 100)),
            ),
            max_size=1,
        )
    )
    keys = draw(st.dictionaries(st.sampled_from(arms), st.sampled_from(["tokens", "_step", "nothing"]), max_size=1))
    leaves = draw(st.dictionaries(st.sampled_from(arms), st.sampled_from([*run_ids, "unknown"]), max_size=1))
    return logs, Declared(exclusions, keys, leaves)


@settings(
    max_examples=int(os.environ.get("SEAMLINE_EXAMPLES", "300")),
    deadline=None,
    phases=[Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink],
    suppress_health_check=[HealthCheck.too_slow],
)
@given(campaign=campaigns())
def test_labels_equal_the_oracle(models, campaign):
    check(models, *campaign)
