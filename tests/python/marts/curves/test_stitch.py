"""The curve models against the oracle in plain Python, on campaigns of every shape that hypothesis makes up."""

import json
import math
import os
from datetime import datetime, timedelta

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from tests.python.support.models import Models
from tests.python.support.stitch.axes import Declared, Log
from tests.python.support.stitch.oracle import stitch
from tests.python.support.stitch.shapes import campaigns

EPOCH = datetime(2026, 9, 1)
MARTS = ["run_rows", "arm_steps", "arm_metrics", "arms", "segments", "runs", "curve_findings"]
ASSIGNED = ("run_id", "run_pattern", "name_pattern", "group_pattern")


@pytest.fixture(scope="module", params=["latest", "furthest"])
def models(request, tmp_path_factory):
    made = Models(tmp_path_factory.mktemp("home"), MARTS, {"lineage_choice": request.param})
    made.lineage_choice = request.param
    return made


def moment(seconds):
    return None if seconds is None else EPOCH + timedelta(seconds=seconds)


def landing(logs: list[Log], declared: Declared) -> dict[str, list[dict]]:
    """The landing rows of these logs, as the readers would land them, and the declared facts."""
    names = ("landed_sources", "history_logs", "history_rows", "history_values", "history_config", "history_axes")
    tables: dict[str, list[dict]] = {name: [] for name in names}
    for log in logs:
        source = {"source_name": log.log_id}
        tables["landed_sources"].append(source | {"path": log.log_id, "kind": "wandb"})
        facts = {"producer": "wandb", "run_id": log.run_id, "source_kind": log.kind, "run_name": log.run_name}
        facts |= {"run_group": log.group, "arm_in_path": log.arm_in_path, "started_at": moment(log.started_at)}
        facts |= {"has_exit_record": False, "history_row_count": len(log.rows)}
        tables["history_logs"].append(source | facts)
        for key, text in log.config.items():
            tables["history_config"].append(source | {"config_key": key, "value_json": json.dumps(text)})
        patterns = {axis.pattern: axis.step_metric for axis in log.axes}
        for pattern, step_metric in patterns.items():
            tables["history_axes"].append(source | {"metric_pattern": pattern, "step_metric": step_metric})
        for row_idx, row in enumerate(log.rows):
            place = source | {"row_idx": row_idx}
            times = {"record_number": row_idx + 2, "step": row.step, "logged_at": moment(row.logged_at)}
            tables["history_rows"].append(place | times)
            for metric, value in row.values.items():
                is_text = isinstance(value, str)
                number = None if is_text or value is None else float(value)
                item = {"metric": metric, "value": number, "value_text": value if is_text else None}
                tables["history_values"].append(place | item)
    tables["run_exclusions"] = [
        {"run_id": r, "arm": a, "logged_from": moment(f), "logged_until": moment(u), "reason": "wrong parser"}
        for r, a, f, u in declared.exclusions
    ]
    arms = {*declared.position_keys, *declared.leaf_run_ids, *declared.headline_metrics}
    tables["arms"] = [
        {
            "arm": arm,
            "position_key": declared.position_keys.get(arm),
            "leaf_run_id": declared.leaf_run_ids.get(arm),
            "headline_metric": declared.headline_metrics.get(arm),
        }
        for arm in sorted(arms)
    ]
    tables["arm_assignments"] = [
        {"arm": arm} | {kind: pattern if kind == stated else None for kind in ASSIGNED}
        for stated, pattern, arm in declared.assignments
    ]
    tables["frozen_recipe"] = [
        {"arm_pattern": pattern, "config_key": key, "value": "any", "affects_learning": False}
        for pattern, key in declared.unlearned
    ]
    return tables


def same(a: object, b: object) -> bool:
    """Equal, where NaN equals NaN and doubles may differ in their last digits."""
    if isinstance(a, float) and isinstance(b, int | float):
        return (a != a and b != b) or math.isclose(a, b, rel_tol=1e-12, abs_tol=1e-12)
    return a == b


def check(models: Models, logs: list[Log], declared: Declared) -> None:
    """Every arm, label, ordinal, ratio and value of the models equals the oracle's."""
    models.run(landing(logs, declared))
    expected = stitch(logs, declared, models.lineage_choice)

    found_arms = {
        run: rest for run, *rest in models.rows("select run_id, arm, evidence, variant_of, seed from run_arms")
    }
    wanted_arms = {run: [a.arm, a.evidence, a.variant_of, a.seed] for run, a in expected.run_arms.items()}
    assert found_arms == wanted_arms

    columns = (
        "arm, drop_reason, position, position_source, segment_number, track_number, superseded_by_run_id, "
        "training_step, gap_ratio"
    )
    rows = models.rows(f"select log_id, row_idx, {columns} from run_rows")
    assert len(rows) == len(expected.rows)
    for log_id, row_idx, *found in rows:
        label = expected.rows[log_id, row_idx]
        for column, value in zip(columns.split(", "), found, strict=True):
            assert same(value, getattr(label, column)), (log_id, row_idx, column, value, getattr(label, column))

    values = {
        (arm, step, metric): text if text is not None else value
        for arm, step, metric, value, text in models.rows(
            "select arm, training_step, metric, value, value_text from arm_metrics"
        )
    }
    assert values.keys() == expected.values.keys()
    for key, value in expected.values.items():
        assert same(values[key], value), (key, values[key], value)

    found_steps = models.rows("select arm, training_step, position, gap_ratio from arm_steps")
    steps = {(arm, step): (position, ratio) for arm, step, position, ratio in found_steps}
    assert steps.keys() == expected.steps.keys()
    for key, (position, ratio) in steps.items():
        assert position == expected.steps[key].position, key
        assert same(ratio, expected.steps[key].gap_ratio), key

    for arm, key, tightest, seam, widest in models.rows(
        "select arm, position_key, tightest_kept_gap_ratio, tightest_kept_seam_ratio, widest_collapsed_gap_ratio "
        "from arms"
    ):
        assert key == expected.position_keys[arm], arm
        ratios = [(ratio, is_seam, is_one) for a, ratio, is_seam, is_one in expected.ratios if a == arm]
        assert same(tightest, min((r for r, _, one in ratios if not one), default=None)), arm
        assert same(seam, min((r for r, is_seam, one in ratios if is_seam and not one), default=None)), arm
        assert same(widest, max((r for r, _, one in ratios if one), default=None)), arm

    for run_id, row_count, kept in models.rows("select run_id, row_count, kept_row_count from runs"):
        of_run = [label for label in expected.rows.values() if label.log.run_id == run_id]
        assert row_count == len(of_run)
        assert kept == sum(label.drop_reason is None for label in of_run)


@settings(
    max_examples=int(os.environ.get("STITCH_EXAMPLES", "60")),
    deadline=None,
    derandomize="STITCH_EXAMPLES" not in os.environ,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
)
@given(campaign=campaigns())
def test_the_models_say_what_the_oracle_says(models, campaign):
    check(models, *campaign)
