"""A simulated campaign in rounds, landed and built, is what its trainer knows it to be: every mart, row by row."""

import json
from dataclasses import dataclass
from pathlib import Path

import duckdb
import pytest

from homes.lock import open_home
from ingest.rounds.trees import ingest_rounds
from ingest.teacher_calls.logs import ingest_teacher_calls
from ingest.verl.file_logger import ingest_native_metrics
from ingest.wandb.files import ingest_wandb
from simulate.rounds.write import write
from tests.python.support.models import Models
from tests.python.support.round_marts import ROUND_MARTS


@dataclass
class Campaign:
    """A simulation, the home it was landed in, and the marts over it."""

    home: Path
    simulated: Path
    marts: Models

    def rows(self, sql: str) -> list[tuple]:
        return self.marts.rows(sql)


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> Campaign:
    """The small scale, which has the published campaign's nine rounds."""
    home, simulated = tmp_path_factory.mktemp("rounds") / "home", tmp_path_factory.mktemp("simulated") / "small"
    write(simulated, "small", 0)
    marts = Models(home, ROUND_MARTS)
    for path in (simulated / "declared").glob("*.csv"):
        (home / "declared" / path.name).write_text(path.read_text())
    with open_home(home) as opened:
        for ingest in (ingest_rounds, ingest_native_metrics, ingest_teacher_calls, ingest_wandb):
            ingest(opened, [str(simulated / "rounds")])
    marts.load(home)
    return Campaign(home, simulated, marts)


COMPARISONS = {
    "rounds_candidates": """
        select run_id, step, group_id, sibling_index, task, drop_reason, is_valid, outcome, reward_rule, has_penalty,
            round(reward, 9), round(advantage, 9), is_behavior, round(cost_usd, 9)
        from {candidates}""",
    "rounds_task_validity": "select * replace (round(valid_fraction, 12) as valid_fraction) from {task_validity}",
    "rounds_reward_branches": "select * from {reward_branches}",
    "rounds_validity_windows": """
        select run_id, window_name, role, first_step, last_step, expected_candidate_count, candidate_count, valid_count,
            unknown_validity_count, task_row_count, round(valid_fraction, 12), round({low}, 12), round({high}, 12),
            threshold_valid_count, registered_at, first_candidate_at, is_preregistered, is_complete, passes, source
        from {validity_windows}""",
    "rounds_training_metrics": """
        select run_id, step, metric, {value}, parse_filename({file}) from {training_metrics}""",
    "rounds_metric_reconciliation": """
        select run_id, step_count, shared_value_count, disagreement_count from {metric_reconciliation_summary}""",
    "rounds_system_metric_counts": """
        select run_id, exported_row_count, logged_row_count, server_event_count from {system_metric_counts}""",
    "rounds_evaluation_summary": """
        select * replace (round(final_score, 12) as final_score) from {evaluation_summary}""",
    "rounds_scheduler_events": "select capacity_before, capacity_after, reason from {scheduler_events}",
    "rounds_saved_steps": "select * from {saved_steps}",
    "teacher_calls": """
        select call_id, run_id, step, role, usage_form, input_tokens, cached_input_tokens, cache_write_tokens,
            output_tokens, reasoning_tokens, round(cost_usd, 12), cost_source
        from {teacher_calls}""",
}
"""What is compared: the same query over the truth's file and over the mart."""

NAMES = {
    "low": ("low", "valid_fraction_low"),
    "high": ("high", "valid_fraction_high"),
    "value": ("value", "native_value"),
    "file": ("file_name", "source_file"),
}


@pytest.mark.parametrize("table", COMPARISONS)
def test_the_mart_equals_the_truth(campaign: Campaign, table: str) -> None:
    assert differences(campaign, campaign.simulated, table) == []


def test_the_comparison_sees_a_changed_truth(campaign: Campaign, tmp_path: Path) -> None:
    (tmp_path / "truth").mkdir()
    for table in COMPARISONS:
        lines = (campaign.simulated / "truth" / f"{table}.csv").read_text().splitlines(keepends=True)
        (tmp_path / "truth" / f"{table}.csv").write_text("".join(lines[:-1]))
        assert len(differences(campaign, tmp_path, table)) == 1


def differences(campaign: Campaign, simulated: Path, table: str) -> list[tuple]:
    """Rows that only the truth or only the mart has, each with its count."""
    sql, mart = COMPARISONS[table], COMPARISONS[table].split("from {")[1].split("}")[0]
    truth = f"read_csv('{simulated}/truth/{table}.csv')"
    there = sql.format(**{mart: truth}, **{key: names[0] for key, names in NAMES.items()})
    here = sql.format(**{mart: mart}, **{key: names[1] for key, names in NAMES.items()})
    return campaign.rows(f"(({there}) except all ({here})) union all (({here}) except all ({there}))")


def test_teacher_costs_are_sums_of_the_truth(campaign: Campaign) -> None:
    truth = f"read_csv('{campaign.simulated}/truth/teacher_calls.csv', types = {{'cost_usd': 'decimal(28, 12)'}})"
    expected = duckdb.sql(f"""
        select run_id, step, role, count(*), cast(sum(cost_usd) as double), count(*) - count(cost_usd)
        from {truth} where run_id not like 'wb-%' group by all order by all""").fetchall()
    got = campaign.rows(
        """select run_id, step, role, call_count, known_cost_usd, unknown_cost_call_count
        from teacher_costs order by all""",
    )
    assert got == expected


def test_the_ledger_is_compared_where_everything_is_known(campaign: Campaign) -> None:
    known = duckdb.sql(f"""
        select step, role from '{campaign.simulated}/truth/teacher_spend.csv' where cost_usd is not null order by all
        """).fetchall()
    verdicts = campaign.rows(
        "select step, role, agrees from teacher_spend_reconciliation where agrees is not null order by all"
    )
    assert verdicts == [(step, role, (step, role) != (3, "rubric")) for step, role in known]
    rows = campaign.rows(
        "select count(*), round(max(abs(difference_usd)) filter (agrees = false), 9) from teacher_spend_reconciliation",
    )
    assert rows == [(27, 0.01)]


def test_findings_are_the_planted_ones(campaign: Campaign) -> None:
    domains = ("candidate_findings", "run_findings", "decision_findings", "teacher_findings", "price_findings")
    rows = campaign.rows(" union all ".join(f"select kind, subject from {domain}" for domain in domains))
    luna, alias = "ropd-sim-wide gpt-5.6-luna-2026-08-01", "ropd-sim-wide teacher-alias"
    assert set(rows) == {
        ("call_time_unknown", luna),
        ("unknown_cost", luna),
        ("unknown_cost", alias),
        ("zero_cost_reported", alias),
        ("duplicate_candidates", "ropd-sim-wide step 4"),
        ("diagnostic_run", "wb-installed-sim"),
        ("diagnostic_run", "wb-installed-sim-0"),
        ("diagnostic_run", "wb-installed-sim-1"),
        ("interrupted_attempt", "ropd-sim-wide step 5 attempt 1"),
        ("ledger_differs", "ropd-sim-wide step 3 rubric"),
        ("policy_responses", "ropd-sim-wide"),
        ("repeated_calls", "ropd-sim-wide"),
        ("retried_calls", "ropd-sim-wide"),
        ("saved_step_incomplete", "ropd-sim-wide step 7"),
        ("step_in_two_launches", "ropd-sim-wide step 5"),
        ("system_counts_differ", "ropd-sim-wide"),
    }
    torn = campaign.rows("select locator, reason like 'not JSON%' from quarantine.quarantine")
    assert torn == [("line 38", True)]


def test_the_held_out_plan_has_its_verdict(campaign: Campaign) -> None:
    rows = campaign.rows(
        "select attempt_count, baseline_valid_count, candidate_valid_count, passes from evaluation_verdicts",
    )
    assert rows == [(32, 5, 10, True)]


def test_every_field_but_token_arrays_is_kept(campaign: Campaign) -> None:
    landed = f"'{campaign.home}/landing/rounds_candidates/*.parquet'"
    (text,) = duckdb.sql(f"select line_json from {landed} where step = 2 limit 1").fetchall()[0]
    fields = json.loads(text)
    assert set(fields) >= {"group_id", "created_at", "policy_before", "verdict_row", "cost_by_role"}
    assert fields["verdict_row"]["input_ids"] == [1, 2, 3]
    types = campaign.rows(
        "select json_type from observed_fields where family = 'candidates' and field = 'response_logprobs'"
    )
    assert types == [("array",)]


def test_a_second_ingest_lands_nothing(campaign: Campaign) -> None:
    with open_home(campaign.home) as opened:
        for ingest in (ingest_rounds, ingest_native_metrics, ingest_teacher_calls):
            assert ingest(opened, [str(campaign.simulated / "rounds")]).landed == 0
