"""Which run an id means, and which runs are diagnostics: on rows worked out by hand."""

from tests.python.support.round_marts import candidate, candidates, findings, round_marts, source


def test_the_longest_pattern_gives_a_run_its_role() -> None:
    roles = [("r*", "diagnostic"), ("run-1*", "formal"), ("run-1?", "diagnostic")]
    declared = [{"run_id": pattern, "role": role} for pattern, role in roles]
    rows = [candidate("a", n, 1, "g", n, run_id=run) for n, run in enumerate(("run-2", "run-1", "run-12", "other"))]
    aliases = [{"run_id": "other", "alias_of": "run-3"}]
    models = candidates(rows, run_roles=declared, run_aliases=aliases)
    assert models.rows("select run_id, role, is_diagnostic from run_identities order by 1") == [
        ("run-1", "formal", False),
        ("run-12", "formal", False),
        ("run-2", "diagnostic", True),
        ("run-3", "diagnostic", True),
    ]
    assert models.rows("select distinct run_id from task_validity order by 1") == [("run-1",), ("run-12",)]
    assert models.rows("select count(*) from candidates") == [(4,)]
    assert ("diagnostic_run", "run-3") in findings(models)


def test_an_alias_of_an_alias_is_a_finding() -> None:
    aliases = [{"run_id": "a", "alias_of": "b"}, {"run_id": "b", "alias_of": "c"}]
    assert findings(candidates([], run_aliases=aliases)) == {("alias_of_alias", "a")}


def test_fields_are_summed_over_sources() -> None:
    seen = [{"source_name": s, "family": "f", "field": "x", "json_type": "null", "record_count": 2} for s in "ab"]
    models = round_marts()
    models.run({"observed_fields": seen})
    assert models.rows("select * from observed_fields") == [("f", "x", "null", 4)]


def test_a_wandb_run_counts_where_other_evidence_or_a_role_speaks_of_it() -> None:
    aliases = [{"run_id": "w1", "alias_of": "run-1"}, {"run_id": "w2", "alias_of": "run-9"}]
    runs = ("w1", "w2", "run-1", "w3", "check-1")
    logs = [{"source_name": f"log-{run}", "run_id": run, "producer": "wandb", "source_kind": "log"} for run in runs]
    sources = [source(log["source_name"], "wandb") for log in logs]
    rows = [candidate("a", 1, 1, "g", 1, run_id="run-1")]
    roles = [{"run_id": "check-*", "role": "diagnostic"}]
    models = candidates(rows, run_aliases=aliases, run_roles=roles, history_logs=logs, landed_sources=sources)
    assert models.rows("select reported_run_id, run_id from run_identities order by 1") == [
        ("check-1", "check-1"),
        ("run-1", "run-1"),
        ("w1", "run-1"),
    ]
