"""Roles, cells, the index of what is published, and the models of an arm, worked out by hand."""

from tests.python.support.checkpoints.rows import BAD, KINDS, OK, at


def test_roles_and_cells(models, rows):
    rows.checkpoint("a/1", hours=[5.0])
    rows.checkpoint("a/2", hours=[6.0], eos=BAD)
    rows.cell("grok", submitted="a/9", fallback="a/1", end=None)
    rows.checkpoint("a/1", cell="grok", hours=[2.0])
    rows.cell("opus", submitted="a/1", fallback="a/1", driver="Claude Code", effort="max", start=100, end=50)
    rows.checkpoint("a/1", cell="opus")
    rows.add("cells", cell="opus", driver="Claude", is_plotted=False, is_valid=False, note="aborted")
    rows.add("cells", cell="ghost")
    models.run(rows.tables)
    assert models.rows("select checkpoint_key, role from checkpoints order by 1") == [
        ("grok/a/1", "fallback"),
        ("kimi/a/1", "SUBMITTED"),
        ("kimi/a/2", "intermediate"),
        ("opus/a/1", "SUBMITTED"),
    ]
    columns = "cell, driver, effort, checkpoint_count, eos_ok_count, submitted_count, submitted_hour, run_hours"
    assert models.rows(f"select {columns}, is_plotted, is_valid, note from cells order by 1") == [
        ("ghost", None, None, 0, 0, 0, None, None, True, True, None),
        ("grok", None, None, 1, 1, 0, None, None, True, True, None),
        ("kimi", None, None, 2, 1, 1, 5.0, 100.0, True, True, None),
        ("opus", "Claude", "max", 1, 1, 1, None, -50.0, False, False, "aborted"),
    ]
    assert models.rows(KINDS) == [
        ("badly_packaged_cell", "kimi"),
        ("cell_ends_before_its_start", "opus"),
        ("cell_not_declared", "grok"),
        ("cell_without_data", "ghost"),
        ("family_without_cadence", "opus/a"),
    ]


def test_a_finished_cell_without_its_submission_is_a_finding(models, rows):
    rows.checkpoint("a/2", hours=[6.0])
    rows.archive("a/7", 8.0)
    rows.archive("a/2", 6.5, line=2)
    models.run(rows.tables)
    assert models.rows(KINDS) == [("archived_checkpoint_missing", "kimi/a/7"), ("cell_without_submission", "kimi")]


def test_the_index_holds_valid_cells_and_baselines_at_hour_0(models, rows):
    rows.add("cells", cell="opus", driver="Claude", is_valid=False)
    rows.cell("opus", submitted="a/1")
    rows.checkpoint("a/1", cell="opus", hours=[1.0])
    rows.checkpoint("a/1", hours=[1.0])
    rows.baseline(30.0)
    rows.baseline(10.0, suite="two")
    rows.baseline(10.0, suite="three", model_id="Other/unseen")
    rows.model("Qwen/base", kind="hub", repo="Qwen/base", branch="main")
    rows.model("base", eos=OK)
    rows.published("Base/older", 0.0, "baseline", cell="BASELINE", eos_ok=False, eos_token_ids=[1])
    rows.model("stray")
    models.run(rows.tables)
    columns = "model_id, cell, hour, hour_source, driver_tokens_at_hour, role, eos_ok, eos_token_ids"
    assert models.rows(f"select {columns} from manifest_entries order by 1") == [
        ("Base/older", "BASELINE", 0.0, "baseline", 0, "baseline", False, [1]),
        ("Other/unseen", "BASELINE", 0.0, "baseline", 0, "baseline", None, None),
        ("Qwen/base", "BASELINE", 0.0, "baseline", 0, "baseline", True, OK),
        ("org/kimi.h001.a.1", "kimi", 1.0, "mtime", 1000, "SUBMITTED", True, OK),
    ]
    assert models.rows("select model_id from checkpoints order by 1") == [
        ("org/kimi.h001.a.1",), ("org/opus.h001.a.1",), ("stray",)
    ]  # fmt: skip


def test_saved_models_of_an_arm_join_its_curve(models, rows):
    rows.add("arm_repos", arm="arm", repo="org/arm-model")
    rows.add("arm_repos", arm="arm", repo="org/nowhere")
    for branch in ("main", "step-0002", "step-0009"):
        model_id = "org/arm-model" + ("" if branch == "main" else f"@{branch}")
        rows.model(model_id, kind="hub", repo="org/arm-model", branch=branch, eos=OK)
    rows.model("org/other@step-2", kind="hub", repo="org/other", branch="step-2")
    rows.add("hub_companions", source_name="org", repo="org/kimi-record", repo_type="model")
    rows.add("hub_companions", source_name="again", repo="org/kimi-record", repo_type="model")
    rows.add("hub_companions", source_name="org", repo="org/opus-high-data", repo_type="dataset")
    rows.add("landed_sources", source_name="log", path="log", kind="wandb")
    log = {"source_name": "log", "run_id": "run", "producer": "wandb", "source_kind": "log", "run_name": "arm"}
    rows.add("history_logs", **log, history_row_count=3)
    for row_idx in range(3):
        key = {"source_name": "log", "row_idx": row_idx}
        rows.add("history_rows", **key, record_number=row_idx + 1, logged_at=at(row_idx))
        rows.add("history_values", **key, metric="training_step", value=10.0 * (row_idx + 1))
    models.run(rows.tables)
    columns = "model_id, training_step, position, run_id, is_on_curve"
    assert models.rows(f"select {columns} from arm_checkpoints order by 1") == [
        ("org/arm-model", None, None, None, False),
        ("org/arm-model@step-0002", 2, 20.0, "run", True),
        ("org/arm-model@step-0009", 9, None, None, False),
    ]
    assert [row for row in models.rows(KINDS) if row[0] == "arm_repo_without_data"] == [
        ("arm_repo_without_data", "org/nowhere")
    ]
    assert ("step_missing_on_curve", "arm step 9") in models.rows(KINDS)
    assert ("step_missing_on_curve", "arm step 2") not in models.rows(KINDS)
    assert models.rows("select model_id, step, source from checkpoints where arm is null") == [
        ("org/other@step-2", 2, "hf:org/other@step-2")
    ]
    assert models.rows("select repo, repo_type, org, cell, companion_kind from companion_repos order by 1") == [
        ("org/kimi-record", "model", "org", "kimi", "record"),
        ("org/opus-high-data", "dataset", "org", "opus-high", "data"),
    ]
