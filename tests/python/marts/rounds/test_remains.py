"""Held-out attempts, saved steps, scheduler events: on rows worked out by hand."""

from datetime import timedelta

from tests.python.support.models import Models
from tests.python.support.round_marts import START, findings, round_marts, source


def built(tables: dict) -> Models:
    models = round_marts()
    models.run(tables)
    return models


def plan(policy: str, role: str, task: str = "t", **fields: object) -> dict:
    declared = {"plan_name": "p", "run_id": "run", "policy": policy, "role": role, "task": task}
    return declared | {"chain_count": 2, "attempts_per_chain": 2, "rule": "more_valid_attempts"} | fields


def attempts(policy: str, valids: list[bool | None], task: str = "t", file_name: str = "e") -> list[dict]:
    """Attempts of two chains of two, scored 0.1, 0.2, ..."""
    return [
        {
            "source_name": file_name,
            "entry_number": 100 * len(policy) + n,
            "run_in_path": "run",
            "policy": policy,
            "task": task,
            "chain": str(n // 2),
            "attempt": n % 2,
            "is_valid": valid,
            "score": (n + 1) / 10,
        }
        for n, valid in enumerate(valids)
    ]


def evaluated(plans: list[dict], rows: list[dict]) -> Models:
    names = {row["source_name"] for row in rows}
    landed = [source(name) for name in sorted(names)]
    return built({"evaluation_plans": plans, "rounds_evaluation_attempts": rows, "landed_sources": landed})


def test_held_out_attempts_are_summed_by_policy_and_task() -> None:
    plans = [plan("sft", "baseline", is_lower_better=True), plan("new!", "candidate", is_lower_better=False)]
    rows = attempts("sft", [True, True, False, True]) + attempts("new!", [True, True, True, True])
    models = evaluated(plans, rows)
    columns = "policy, attempt_count, valid_count, is_complete, best_score, final_valid_count, round(final_score, 6)"
    assert models.rows(f"select {columns} from evaluation_summary order by 1") == [
        ("new!", 4, 4, True, 0.4, 2, 0.3),
        ("sft", 4, 3, True, 0.1, 2, 0.3),
    ]
    verdict = "attempt_count, baseline_valid_count, candidate_valid_count, valid_count_difference, is_complete, passes"
    assert models.rows(f"select {verdict} from evaluation_verdicts") == [(8, 3, 4, 1, True, True)]
    assert findings(models) == set()


def test_a_verdict_sums_over_tasks() -> None:
    plans = [plan(policy, role, task) for policy, role in (("sft", "baseline"), ("new!", "candidate")) for task in "tu"]
    # On task t 3 against 1, on task u 2 against 3: 5 against 4 in all.
    rows = attempts("sft", [True, True, True, False]) + attempts("sft", [True, True, False, False], "u", "f")
    rows += attempts("new!", [True, False, False, False]) + attempts("new!", [True, True, True, False], "u", "f")
    models = evaluated(plans, rows)
    verdict = "expected_attempt_count, attempt_count, baseline_valid_count, candidate_valid_count, passes"
    assert models.rows(f"select {verdict} from evaluation_verdicts") == [(16, 16, 5, 4, False)]


def test_no_verdict_before_every_planned_attempt_is_there() -> None:
    plans = [plan("sft", "baseline"), plan("new!", "candidate")]
    full = attempts("sft", [True] * 4) + attempts("new!", [True] * 4)

    def passes(rows: list[dict], plans: list[dict] = plans) -> tuple:
        models = evaluated(plans, rows)
        kinds = {kind for kind, _ in findings(models)}
        return (*models.rows("select is_complete, passes from evaluation_verdicts")[0], kinds)

    assert passes(full) == (True, False, set())
    assert passes(full[:-1]) == (False, None, {"evaluation_incomplete"})
    assert passes([*full[:-1], full[-1] | {"is_valid": None}]) == (False, None, {"evaluation_incomplete"})
    # Four attempts, but not of two chains.
    assert passes([*full[:-1], full[-1] | {"chain": "7", "attempt": 5}]) == (False, None, {"evaluation_incomplete"})
    repeated = [*full[:-1], full[-2] | {"source_name": "f"}]
    assert passes(repeated) == (False, None, {"evaluation_incomplete"})
    unplanned = attempts("other", [True])
    assert passes([*full, *unplanned]) == (True, False, {"unplanned_attempts"})
    vague = [p | {"rule": "looks better"} for p in plans]
    assert passes(full, vague) == (True, None, {"evaluation_rule_unknown"})
    torn = [plans[0], plans[1] | {"rule": None}]
    assert passes(full, torn) == (True, None, {"evaluation_rule_unknown"})
    for alone in plans:
        assert passes(full, [alone]) == (True, None, {"evaluation_rule_unknown", "unplanned_attempts"})
    models = evaluated(plans, [])
    counts = "select attempt_count, valid_count, final_valid_count, is_complete from evaluation_summary"
    assert models.rows(counts) == [(0, 0, 0, False)] * 2
    models = evaluated(plans, [*repeated, *unplanned])
    labels = "select label, count(*) from evaluation_attempts group by 1 order by 1"
    assert models.rows(labels) == [("duplicate", 1), ("planned", 7), ("unplanned", 1)]
    assert models.rows("select source from evaluation_attempts where label = 'duplicate'") == [("/runs/e",)]


def test_saved_steps_name_what_they_lack() -> None:
    weights, config = "lora_adapter/adapter_model.safetensors", "lora_adapter/adapter_config.json"
    held = {1: [weights, config, "task_states/s.json"], 2: [weights, config], 3: ["task_state.json"], 4: ["optim.pt"]}
    rows = [
        {"source_name": f"s{step}", "run_in_path": "run", "step": step, "path": path, "size_bytes": 10}
        | ({"sha256": f"sha{step}"} if path == weights else {"sha256": "config"})
        | ({"lora_rank": 32, "lora_alpha": 64.0} if path == config else {})
        for step, paths in held.items()
        for path in paths
    ]
    sources = [source(f"s{step}", "rounds") for step in held]
    models = built({"rounds_saved_step_files": rows, "landed_sources": sources})
    columns = "step, has_adapter, adapter_sha256, lora_rank, lora_alpha, has_task_state, missing_parts, file_count"
    assert models.rows(f"select {columns}, size_bytes from saved_steps order by 1") == [
        (1, True, "sha1", 32, 64.0, True, None, 3, 30),
        (2, True, "sha2", 32, 64.0, False, "task_state", 2, 20),
        (3, False, None, None, None, True, "adapter adapter_config", 1, 10),
        (4, False, None, None, None, False, "adapter adapter_config task_state", 1, 10),
    ]
    assert findings(models) == {("saved_step_incomplete", f"run step {step}") for step in (2, 3, 4)}


def test_scheduler_events_are_numbered_by_time_within_a_run() -> None:
    rows = [
        {"source_name": "s", "line_number": 1, "run_in_path": "run", "occurred_at": START + timedelta(hours=1)},
        {"source_name": "s", "line_number": 2, "run_in_path": "run", "occurred_at": START},
        {"source_name": "s", "line_number": 3, "run_in_path": "run"},
        {"source_name": "s", "line_number": 4, "run_in_path": "run", "run_id": "other", "occurred_at": START},
    ]
    models = built({"rounds_scheduler_events": rows})
    assert models.rows("select run_id, event_number, line_number from scheduler_events order by 1, 2") == [
        ("other", 1, 4),
        ("run", 1, 2),
        ("run", 2, 1),
        ("run", 3, 3),
    ]
