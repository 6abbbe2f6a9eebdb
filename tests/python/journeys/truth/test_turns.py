"""Simulated rollouts, landed and built, are what was planted: every rollout, step, bad line and finding."""

import csv
from pathlib import Path

import pytest

from homes.lock import open_home
from ingest.open_instruct.shards import ingest_rollouts
from ingest.wandb.files import ingest_wandb
from simulate.curves import write as curves
from simulate.rollouts import write as rollouts
from tests.python.support.models import Models
from tests.python.support.turns_truth import differences

MARTS = ["rollouts", "arm_turns", "malformed_tool_calls", "rollout_findings", "turn_findings", "quarantined_records"]
MARTS += ["turn_reconciliation"]


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> tuple[Models, Path]:
    """(marts, simulation) of the small scale."""
    home, simulated = tmp_path_factory.mktemp("turns") / "home", tmp_path_factory.mktemp("simulated") / "small"
    curves.write(simulated, "small", 0)
    rollouts.write(simulated, "small", 0)
    marts = Models(home, MARTS)
    for path in (simulated / "declared").glob("*.csv"):
        (home / "declared" / path.name).write_text(path.read_text())
    with open_home(home) as opened:
        ingest_wandb(opened, [str(simulated / "wandb")])
        ingest_rollouts(opened, [str(simulated / "rollouts")])
    marts.load(home)
    return marts, simulated


def test_every_rollout_and_step_equals_the_truth(campaign: tuple[Models, Path]) -> None:
    marts, simulated = campaign
    assert differences(marts.connection, simulated) == []


def test_the_truth_holds_what_is_asked_of_it(campaign: tuple[Models, Path]) -> None:
    """Every label, an empty response, unsplit and unknown rollouts, closed and open calls, and each kind of finding."""
    _, simulated = campaign
    rows = list(csv.DictReader((simulated / "truth" / "turns_rollouts.csv").open()))
    labels = {row["drop_reason"] for row in rows}
    assert labels == {"", "rolled_back", "never_trained", "other_lineage", "excluded"}
    assert any(row["response_tokens"] == "1" and row["assistant_segment_count"] == "1" for row in rows)
    assert any(not row["assistant_tokens"] for row in rows)
    assert any(row["assistant_tokens"] and not row["tool_call_tokens"] for row in rows)
    assert any(int(row["unclosed_tool_call_tokens"] or 0) > 0 for row in rows)
    kinds = {row["kind"] for row in csv.DictReader((simulated / "truth" / "turns_findings.csv").open())}
    assert kinds == {
        *("arm_without_rollouts", "batch_size_differs", "blocks_and_calls_differ", "conflicting_rollouts"),
        *("logprobs_do_not_match_tokens", "longer_rollout_lineage_not_chosen", "repeated_rollouts"),
        *("request_info_misaligned", "sequence_lengths_differ", "unknown_tokenizer"),
    }


def test_the_comparison_sees_a_changed_truth(campaign: tuple[Models, Path], tmp_path: Path) -> None:
    marts, simulated = campaign
    (tmp_path / "truth").mkdir()
    for path in (simulated / "truth").glob("turns_*.csv"):
        lines = path.read_text().splitlines(keepends=True)
        (tmp_path / "truth" / path.name).write_text("".join(lines[:-1]))
    changed = {row[0] for row in differences(marts.connection, tmp_path)}
    assert changed == {"rollouts", "arm_turns", "malformed_tool_calls", "quarantined_records", "findings"}


def test_the_trainers_own_lengths_are_met_where_no_rollout_was_lost(campaign: tuple[Models, Path]) -> None:
    marts, _ = campaign
    rows = marts.rows("select arm, training_step, difference from turn_reconciliation where difference <> 0")
    assert [row[:2] for row in rows] == [("prefilter-2b", 3)]
    assert marts.rows("select arm, count(*), count(difference) from turn_reconciliation group by arm order by arm") == [
        ("hardened-prefilter-dppo-9b", 40, 40),
        ("prefilter-2b", 34, 14),
        ("prefilter-sft8b", 33, 33),
        ("seta", 30, 30),
    ]


def test_the_share_of_calls_that_are_never_closed_climbs(campaign: tuple[Models, Path]) -> None:
    marts, _ = campaign
    first, last = marts.rows(
        "select sum(malformed_tool_call_rollouts) / sum(n_split_rollouts) from arm_turns "
        "where arm like 'hardened%' group by training_step > 20 order by training_step > 20"
    )
    assert first[0] < 0.15 and last[0] > 0.4


def test_the_same_seed_writes_the_same_bytes(tmp_path: Path) -> None:
    for name in ("first", "second"):
        rollouts.write(tmp_path / name, "small", 3)
    rollouts.write(tmp_path / "other", "small", 4)
    files = {
        name: {p.relative_to(tmp_path / name): p.read_bytes() for p in (tmp_path / name).rglob("*") if p.is_file()}
        for name in ("first", "second", "other")
    }
    assert files["first"] == files["second"] != files["other"]
