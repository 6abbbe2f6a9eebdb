"""Small campaigns for the tests of the oracle, and what one looks at of them."""

from tests.python.support.stitch.oracle import Log, Row

FIRST = 1_700_000_000


def run(run_id, positions, key="global_step", metrics=("loss",), at=0, step_from=0, **facts):
    """A log with a row a position, a minute apart, that starts `at` hours after the first."""
    rows = [
        Row(step_from + n, FIRST + 3600 * at + 60 * n, {key: p} | dict.fromkeys(metrics, 10.0 + n))
        for n, p in enumerate(positions)
    ]
    facts = {"run_name": "grpo", "started_at": FIRST + 3600 * at} | facts
    return Log(facts.pop("log_id", run_id), run_id, rows, **facts)


def labels(found, log_id):
    return [found.rows[log_id, i].drop_reason or "kept" for i in range(len(found.rows)) if (log_id, i) in found.rows]


def points(found, metric, arm="grpo"):
    return {step: value for (a, step, m), value in sorted(found.values.items()) if (a, m) == (arm, metric)}


def positions(found, arm="grpo"):
    return [found.steps[key].position for key in sorted(found.steps) if key[0] == arm]


def ordinals(found, log_id):
    return [r.training_step for (log, _), r in sorted(found.rows.items()) if log == log_id]


def arms(found):
    return {run_id: arm.arm for run_id, arm in found.run_arms.items()}


def evidence(found):
    return {run_id: arm.evidence for run_id, arm in found.run_arms.items()}
