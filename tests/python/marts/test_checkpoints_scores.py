"""Packaging, cells, scores and costs, worked out by hand."""

import math

import pytest

from tests.python.support.checkpoints.rows import BAD, OK, Rows, at, checkpoint_models

SCORES = "select model_id, gain, cost_per_point, cost_status from checkpoint_scores order by model_id, suite"
KINDS = "select kind, subject from checkpoint_findings order by all"


@pytest.fixture
def models():
    return checkpoint_models()


@pytest.fixture
def rows():
    rows = Rows()
    rows.add("cells", cell="kimi")
    rows.cell(submitted="a/1")
    rows.usage(0, (1000, 0, 0), log="usage")
    return rows


def test_ids_come_from_generation_config_else_config_else_text_config_and_never_past_a_broken_file(models, rows):
    def planted(name, generation=None, config=None, text=None, is_broken=False, is_config_broken=False):
        rows.checkpoint(f"a/{name}", eos=None)
        key = {"source_name": "kimi", "folder_idx": rows.tables["checkpoint_folders"][-1]["folder_idx"]}
        row = rows.tables["checkpoint_configs"][-1]
        row |= {"eos_token_ids": config, "text_eos_token_ids": text, "is_readable": not is_config_broken}
        if generation is not None or is_broken:
            rows.config(key, "generation_config.json", is_readable=not is_broken, eos_token_ids=generation)

    planted("1", generation=OK, config=BAD, text=BAD)
    planted("2", generation=BAD, config=OK, text=OK)
    planted("3", config=OK, text=BAD)
    planted("4", text=OK)
    planted("5")
    planted("6", config=OK, is_broken=True)
    planted("7", text=OK, is_config_broken=True)
    planted("8", generation=[])
    models.run(rows.tables)
    packaged = "select step, eos_source, eos_token_ids, eos_ok from checkpoints order by 1"
    assert models.rows(packaged) == [
        (1, "generation_config", OK, True),
        (2, "generation_config", BAD, False),
        (3, "config", OK, True),
        (4, "text_config", OK, True),
        (5, None, None, None),
        (6, None, None, None),
        (7, None, None, None),
        (8, "generation_config", [], False),
    ]
    assert models.rows("select eos_ok_count, eos_known_count, checkpoint_count from cells") == [(3, 5, 8)]
    assert [row for row in models.rows(KINDS) if "family" not in row[0]] == [
        ("badly_packaged_cell", "kimi"),
        ("broken_config", "org/kimi.hNA.a.6"),
        ("broken_config", "org/kimi.hNA.a.7"),
    ]


def test_a_generation_config_without_ids_leaves_the_word_to_config(models, rows):
    key = rows.model("one", eos=OK)
    rows.config(key, "generation_config.json")
    models.run(rows.tables)
    assert models.rows("select eos_source, eos_ok from checkpoints") == [("config", True)]


def test_the_end_of_turn_is_that_of_the_named_model_else_of_its_type_by_the_longest_pattern(models, rows):
    rows.add("tokenizers", model_pattern="Qwen/*", end_of_turn_id=1)
    rows.add("tokenizers", model_pattern="Qwen/Qwen3*", end_of_turn_id=2)
    rows.add("tokenizers", model_pattern="*", end_of_turn_id=None)
    for model_id, name, model_type in [
        ("a", "Qwen/Qwen3-8B", "qwen3_5"),
        ("b", "Qwen/Other", "qwen3_5"),
        ("c", "/local/path", "qwen3_5_text"),
        ("d", None, "qwen3_5"),
        ("e", "/local/path", "llama"),
        ("f", None, None),
    ]:
        key = rows.model(model_id)
        rows.config(key, "config.json", model_name=name, model_type=model_type, eos_token_ids=[2, 248046])
    rows.model("g")
    # No ids at all, and no end of turn known: unknown, though no id is among none.
    rows.config(rows.model("h"), "config.json", model_type="llama", eos_token_ids=[])
    models.run(rows.tables)
    assert models.rows("select model_id, eos_ok from checkpoints order by 1") == [
        ("a", True), ("b", False), ("c", True), ("d", True), ("e", None), ("f", None), ("g", None),
        ("h", None),
    ]  # fmt: skip
    assert models.rows(KINDS) == [
        ("cell_without_submission", "kimi"),
        ("checkpoint_without_config", "g"),
        ("tokenizer_not_declared", "llama"),
    ]


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
    rows.archive("a/7", 3.0)
    rows.archive("a/2", 6.5, line=2)
    models.run(rows.tables)
    assert models.rows(KINDS) == [("archived_checkpoint_missing", "kimi/a/7"), ("cell_without_submission", "kimi")]


def test_cost_per_point_is_stated_only_where_it_means_something(models, rows):
    rows.baseline(30.0)
    rows.checkpoint("a/1", hours=[1.0])
    rows.checkpoint("a/2", hours=[2.0])
    rows.checkpoint("a/3", hours=[3.0])
    rows.checkpoint("a/4", hours=[4.0], eos=BAD)
    rows.checkpoint("a/5", hours=[5.0], eos=None)
    rows.checkpoint("a/6")
    rows.checkpoint("a/7", hours=[7.0])
    rows.checkpoint("a/8", hours=[8.0])
    rows.checkpoint("a/final")
    for step, score in enumerate([34.0, 30.0, 29.0, 35.0, 35.0, 35.0, math.nan], 1):
        rows.score(f"a/{step}", score)
    rows.score("a/final", 40.0)
    rows.cell("opus", submitted="a/1")
    rows.checkpoint("a/1", cell="opus", hours=[1.0])
    rows.checkpoint("a/2", cell="opus", hours=[2.0])
    rows.score("a/1", 50.0, cell="opus")
    rows.add("cells", cell="opus", is_valid=False)
    models.run(rows.tables)
    assert models.rows(SCORES) == [
        ("Qwen/base", 0.0, None, "baseline"),
        ("org/kimi.h001.a.1", 4.0, 250.0, "ok"),
        ("org/kimi.h002.a.2", 0.0, None, "no_gain"),
        ("org/kimi.h003.a.3", -1.0, None, "no_gain"),
        ("org/kimi.h004.a.4", 5.0, None, "packaging"),
        ("org/kimi.h005.a.5", 5.0, None, "unknown_packaging"),
        ("org/kimi.h006.a.6", 5.0, 200.0, "ok"),
        ("org/kimi.h007.a.7", None, None, "unscored"),
        ("org/kimi.h008.a.8", None, None, "unscored"),
        ("org/kimi.hNA.a.final", 10.0, None, "hour_unknown"),
        ("org/opus.h001.a.1", 20.0, None, "invalid_cell"),
        ("org/opus.h002.a.2", None, None, "invalid_cell"),
    ]
    assert [row for row in models.rows(KINDS) if "score" in row[0] or "gain" in row[0]] == [
        ("score_not_finite", "org/kimi.h007.a.7 on suite"),
        ("zero_gain", "org/kimi.h002.a.2 on suite"),
    ]
    frontier = "select model_id, best_score_by_hour, is_best_by_hour from frontier_scores order by hour"
    assert models.rows(frontier) == [
        ("org/kimi.h001.a.1", 34.0, True),
        ("org/kimi.h002.a.2", 34.0, False),
        ("org/kimi.h003.a.3", 34.0, False),
        ("org/kimi.h006.a.6", 35.0, True),
    ]


def test_a_cell_whose_spending_is_unknown_has_no_cost(models, rows):
    rows.baseline(30.0)
    rows.cell("grok", submitted="a/1")
    rows.add("cells", cell="grok")
    rows.checkpoint("a/1", cell="grok", hours=[1.0])
    rows.score("a/1", 40.0, cell="grok")
    models.run(rows.tables)
    assert models.rows(SCORES)[1:] == [("org/grok.h001.a.1", 10.0, None, "hour_unknown")]
    assert models.rows("select best_score_by_hour, best_score_by_tokens, is_best_by_tokens from frontier_scores") == [
        (40.0, None, None)
    ]


def test_scores_compare_only_within_one_harness(models, rows):
    for step in (1, 2, 3, 4, 5):
        rows.checkpoint(f"a/{step}", hours=[float(step)])
    rows.baseline(30.0)
    rows.baseline(10.0, suite="two", harness="pi")
    rows.baseline(20.0, suite="two", harness="other")
    rows.baseline(1.0, suite="open", harness=None)
    rows.score("a/1", 31.0, harness="other")
    rows.score("a/2", 32.0)
    rows.score("a/3", 33.0, harness=None)
    rows.score("a/1", 21.0, suite="two", harness="other")
    rows.score("a/2", 12.0, suite="two")
    rows.score("a/3", 13.0, suite="two", harness=None)
    rows.score("a/1", 5.0, suite="open", harness="any")
    rows.score("a/1", 5.0, suite="none")
    models.run(rows.tables)
    told = "select suite, model_id, harness, baseline_score, gain from checkpoint_scores"
    assert models.rows(f"{told} where score is not null and cost_status <> 'baseline' order by 1, 2") == [
        ("none", "org/kimi.h001.a.1", "pi", None, None),
        ("open", "org/kimi.h001.a.1", "any", 1.0, 4.0),
        ("suite", "org/kimi.h001.a.1", "other", None, None),
        ("suite", "org/kimi.h002.a.2", "pi", 30.0, 2.0),
        ("suite", "org/kimi.h003.a.3", None, 30.0, 3.0),
        ("two", "org/kimi.h001.a.1", "other", 20.0, 1.0),
        ("two", "org/kimi.h002.a.2", "pi", 10.0, 2.0),
        ("two", "org/kimi.h003.a.3", None, None, None),
    ]
    assert models.rows(KINDS) == [
        ("harness_differs", "suite"),
        ("harness_differs", "two"),
        ("harness_not_stated", "suite"),
        ("harness_not_stated", "two"),
        ("suite_without_baseline", "none"),
    ]
    best = "select model_id, harness, best_score_by_hour from frontier_scores where suite = 'suite' order by 1"
    assert models.rows(best) == [
        ("org/kimi.h001.a.1", "other", 31.0),
        ("org/kimi.h002.a.2", "pi", 32.0),
        ("org/kimi.h003.a.3", None, 33.0),
    ]


def test_a_harness_without_a_baseline_of_its_own_is_a_finding(models, rows):
    rows.checkpoint("a/1", hours=[1.0])
    rows.baseline(30.0)
    rows.score("a/1", 31.0, harness="other")
    models.run(rows.tables)
    found = models.rows("select kind, subject, detail from checkpoint_findings")
    assert [row[:2] for row in found] == [("harness_differs", "suite")]
    assert "scored under other, but no baseline" in found[0][2]


def test_of_several_scores_the_comparable_then_the_finite_then_the_last_stands(models, rows):
    for step in (1, 2, 3, 4):
        rows.checkpoint(f"a/{step}", hours=[float(step)])
    rows.baseline(30.0)
    rows.score("a/1", 31.0)
    rows.score("a/1", 99.0, harness="other")
    rows.score("a/2", 32.0)
    rows.score("a/2", math.nan)
    rows.score("a/3", 33.0)
    rows.score("a/3", 35.0)
    rows.score("a/3", 34.0, file="older")
    rows.score("a/4", 36.0)
    rows.score("a/4", 36.0)
    rows.score("a/4", None)
    rows.score(None, 50.0, model_id="org/kimi.h777.a.2", suite="by id")
    models.run(rows.tables)
    standing = "select checkpoint_key, score from score_candidates where standing_rank = 1 order by 1"
    assert models.rows(standing) == [
        ("kimi/a/1", 31.0), ("kimi/a/2", 32.0), ("kimi/a/2", 50.0), ("kimi/a/3", 35.0), ("kimi/a/4", 36.0)
    ]  # fmt: skip
    kinds = [row for row in models.rows(KINDS) if "score" in row[0]]
    assert kinds == [
        ("conflicting_scores", "org/kimi.h001.a.1 on suite"),
        ("conflicting_scores", "org/kimi.h002.a.2 on suite"),
        ("conflicting_scores", "org/kimi.h003.a.3 on suite"),
        ("score_not_finite", "org/kimi.h002.a.2 on suite"),
        ("score_not_finite", "org/kimi.h004.a.4 on suite"),
    ]


def test_scores_of_unknown_models_and_of_the_baseline_itself(models, rows):
    rows.checkpoint("a/1", hours=[1.0])
    rows.baseline(30.0)
    rows.baseline(5.0, suite="other")
    rows.score(None, 33.0, model_id="nobody")
    rows.score("z/1", 33.0)
    rows.score(None, 30.0, model_id="Qwen/base")
    rows.score(None, 6.0, model_id="Qwen/base", suite="other")
    models.run(rows.tables)
    assert models.rows(KINDS) == [
        ("baseline_score_differs", "Qwen/base on other"),
        ("score_for_unknown_model", "kimi/z/1 on suite"),
        ("score_for_unknown_model", "nobody on suite"),
    ]
    assert models.rows(SCORES) == [("Qwen/base", 0.0, None, "baseline"), ("Qwen/base", 0.0, None, "baseline")]


def test_baselines_declared_twice_are_a_finding_and_no_row_is_doubled(models, rows):
    rows.checkpoint("a/1", hours=[1.0])
    rows.baseline(30.0)
    rows.baseline(29.0)
    rows.baseline(10.0, harness="other")
    rows.baseline(28.0, model_id="Qwen/zzz")
    rows.score("a/1", 31.0)
    models.run(rows.tables)
    told = "select model_id, harness, score, gain from checkpoint_scores order by 1, 2"
    assert models.rows(told) == [
        ("Qwen/base", "other", 10.0, 0.0),
        ("Qwen/zzz", "pi", 28.0, 0.0),
        ("org/kimi.h001.a.1", "pi", 31.0, 2.0),
    ]
    assert models.rows(KINDS) == [("several_baselines", "suite under pi")]


def test_the_frontier_is_the_best_so_far_by_hour_and_by_tokens(models, rows):
    rows.usage(0.5, (1, 0, 0), log="usage")
    rows.usage(3.5, (10, 0, 0), log="usage")
    rows.usage(4.5, (10, 0, 0), log="usage")
    rows.checkpoint("a/1", hours=[1.0])
    rows.checkpoint("a/2", hours=[2.0])
    rows.checkpoint("a/3", hours=[2.0])
    rows.checkpoint("a/4", hours=[3.0], eos=BAD)
    rows.checkpoint("a/5", hours=[4.0])
    rows.checkpoint("a/6", hours=[5.0])
    for step, score in enumerate([5.0, 4.0, 7.0, 99.0, 6.0, 8.0], 1):
        rows.score(f"a/{step}", score)
    rows.score("a/1", 1.0, suite="alone")
    rows.cell("grok", submitted="a/1")
    rows.add("cells", cell="grok", is_valid=True)
    rows.checkpoint("a/1", cell="grok", hours=[0.5])
    rows.score("a/1", 50.0, cell="grok")
    models.run(rows.tables)
    columns = "step, best_score_by_hour, is_best_by_hour, best_score_by_tokens, is_best_by_tokens"
    join = "from frontier_scores join checkpoints using (model_id) where suite = 'suite' and checkpoints.cell = 'kimi'"
    assert models.rows(f"select {columns} {join} order by 1") == [
        # Step 1 comes before step 3 in time, but had cost as much.
        (1, 5.0, True, 7.0, False),
        (2, 7.0, False, 7.0, False),
        (3, 7.0, True, 7.0, True),
        (5, 7.0, False, 7.0, False),
        (6, 8.0, True, 8.0, True),
    ]


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
    rows.add(
        "history_logs",
        source_name="log",
        run_id="run",
        producer="wandb",
        source_kind="log",
        run_name="arm",
        history_row_count=3,
    )
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
