"""Scores and costs, worked out by hand."""

import math

from tests.python.support.checkpoints.rows import BAD, KINDS

SCORES = "select model_id, gain, cost_per_point, cost_status from checkpoint_scores order by model_id, suite"


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
