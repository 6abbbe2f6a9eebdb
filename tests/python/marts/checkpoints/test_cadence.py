"""Hours of checkpoints whose own time says nothing: a family's line, an id, a manifest; worked out by hand."""

import pytest

from tests.python.support.checkpoints.rows import BAD, HOURS, KINDS, Rows


@pytest.fixture
def rows():
    rows = Rows()
    rows.add("cells", cell="kimi")
    return rows


def flattened(rows: Rows, *paths: str, cell: str = "kimi") -> None:
    """Checkpoints whose files were all written at hour 90 by a copy."""
    for path in paths:
        rows.checkpoint(path, hours=[90.0], cell=cell)


def test_a_family_s_own_line_dates_what_was_copied(models, rows):
    rows.cell(submitted="a/100")
    # An hour every 50 steps, exactly: hour = 1 + step / 50.
    rows.checkpoint("a/100", hours=[3.0])
    rows.checkpoint("a/200", hours=[5.0])
    flattened(rows, "a/150", "a/400", "a/6000", "b/1")
    rows.checkpoint("b/2", hours=[50.0])
    models.run(rows.tables)
    assert models.rows(HOURS) == [
        ("org/kimi.h003.a.100", 3.0, "mtime", None),
        ("org/kimi.h004.a.150", 4.0, "extrapolated", None),
        ("org/kimi.h005.a.200", 5.0, "mtime", None),
        ("org/kimi.h009.a.400", 9.0, "extrapolated", None),
        # The line runs past the run's end.
        ("org/kimi.hNA.a.6000", None, "unrecoverable", 9.0),
        # One anchor makes no line.
        ("org/kimi.hNA.b.1", None, "unrecoverable", 50.0),
        ("org/kimi.h050.b.2", 50.0, "mtime", None),
    ]
    assert models.rows(KINDS) == [
        ("family_without_cadence", "kimi/b"),
        ("hour_outside_run", "org/kimi.hNA.a.6000"),
        ("mtimes_flattened", "kimi"),
    ]
    families = "select family, anchor_count, hours_per_step, hour_at_step_0, cadence_error_hours, has_cadence"
    assert models.rows(f"{families} from checkpoint_families order by 1") == [
        ("a", 2, 0.02, 1.0, None, True),
        ("b", 1, None, None, None, False),
    ]


def test_an_hour_on_the_line_may_be_the_first_or_last_of_the_run_but_not_before_it(models, rows):
    rows.cell(submitted="a/100", end=100)
    rows.checkpoint("a/100", hours=[0.5])
    rows.checkpoint("a/200", hours=[1.5])
    flattened(rows, "a/50", "a/49", "a/10050", "a/10051")
    models.run(rows.tables)
    assert models.rows("select step, hour from checkpoints where hour_source = 'extrapolated' order by 1") == [
        (50, 0.0),
        (10050, 100.0),
    ]
    outside = [row[1] for row in models.rows(KINDS) if row[0] == "hour_outside_run"]
    assert outside == ["org/kimi.hNA.a.10051", "org/kimi.hNA.a.49"]


def test_each_anchor_is_predicted_from_the_others(models, rows):
    rows.cell(submitted="a/0")
    # Without (2, 4) the line through (0, 1) and (1, 1) says 1: off by 3. Without (0, 1) that through (1, 1) and (2, 4)
    # says -2: off by 3. Without (1, 1) that through (0, 1) and (2, 4) says 2.5: off by 1.5.
    for step, hour in [(0, 1.0), (1, 1.0), (2, 4.0)]:
        rows.checkpoint(f"a/{step}", hours=[hour])
    # A janitor's hour is an anchor too, and an hour that is no evidence is none.
    for step, hour in [(1, 10.0), (2, 20.0)]:
        rows.checkpoint(f"b/{step}")
        rows.archive(f"b/{step}", hour, line=step)
    rows.checkpoint("b/3", hours=[200.0])
    models.run(rows.tables)
    families = "select family, checkpoint_count, anchor_count, hours_per_step, hour_at_step_0, cadence_error_hours"
    assert models.rows(f"{families} from checkpoint_families order by 1") == [
        ("a", 3, 3, pytest.approx(1.5), pytest.approx(0.5), pytest.approx(3.0)),
        ("b", 3, 2, pytest.approx(10.0), pytest.approx(0.0), None),
    ]


def test_an_anchor_that_alone_makes_the_line_predicts_nothing(models, rows):
    rows.cell(submitted="a/5")
    # Two spellings of step 5: without step 9 no line is left.
    for path, hour in [("a/5", 1.0), ("a/05", 3.0), ("a/9", 6.0)]:
        rows.checkpoint(path, hours=[hour])
    models.run(rows.tables)
    # Without a/5: through (5, 3) and (9, 6) says 3 at 5, off by 2; without a/05 the same.
    assert models.rows("select cadence_error_hours, hours_per_step from checkpoint_families") == [
        (pytest.approx(2.0), pytest.approx(1.0))
    ]


def test_steps_that_run_backwards_date_nothing(models, rows):
    rows.cell(submitted="a/1")
    rows.checkpoint("a/1", hours=[20.0])
    rows.checkpoint("a/2", hours=[10.0])
    rows.checkpoint("b/1", hours=[30.0])
    rows.checkpoint("b/2", hours=[30.0])
    flattened(rows, "a/3", "a/4", "b/3")
    models.run(rows.tables)
    untimed = "select checkpoint_key, hour_upper_bound from checkpoints where hour is null order by 1"
    assert models.rows(untimed) == [("kimi/a/3", 20.0), ("kimi/a/4", 20.0), ("kimi/b/3", 30.0)]
    kinds = models.rows("select kind, subject from checkpoint_findings where kind like '%cadence%' order by all")
    assert kinds == [
        ("cadence_runs_backwards", "kimi/a"),
        ("cadence_runs_backwards", "kimi/b"),
        ("family_without_cadence", "kimi/a"),
        ("family_without_cadence", "kimi/b"),
    ]


def test_a_step_that_is_no_number_has_no_place_on_the_line_but_may_have_a_time(models, rows):
    rows.cell(submitted="a/1")
    rows.checkpoint("a/1", hours=[1.0])
    rows.checkpoint("a/2", hours=[2.0])
    rows.checkpoint("a/final", hours=[7.5])
    flattened(rows, "a/best", "b/1", "b/2")
    models.run(rows.tables)
    named = "select model_id, step, step_name, hour_source from checkpoints where step is null order by all"
    assert models.rows(named) == [
        ("org/kimi.h007.a.final", None, "final", "mtime"),
        ("org/kimi.hNA.a.best", None, "best", "unrecoverable"),
    ]
    assert [s for k, s in models.rows(KINDS) if k == "step_not_a_number"] == [
        "org/kimi.h007.a.final",
        "org/kimi.hNA.a.best",
    ]


def test_a_published_id_gives_its_hour_where_nothing_else_does(models, rows):
    rows.cell(submitted="a/1")
    rows.checkpoint("a/1", hours=[1.0])
    rows.checkpoint("a/2", hours=[2.0])
    flattened(rows, "b/1", "b/2", "b/3", "a/3")
    rows.model("org/kimi.h077.b.1", kind="hub", repo="org/kimi.h077.b.1", branch="main", eos=BAD)
    rows.model("org/kimi.hNA.b.2", kind="hub", repo="org/kimi.hNA.b.2", branch="main")
    rows.model("org/kimi.h099.a.1", kind="hub", repo="org/kimi.h099.a.1", branch="main")
    rows.model("org/kimi.h099.a.3", kind="hub", repo="org/kimi.h099.a.3", branch="main")
    rows.model("org/kimi.h101.b.3", kind="hub", repo="org/kimi.h101.b.3", branch="main")
    rows.model("other/grok.h005.a.b.7")
    rows.model("plain-name")
    models.run(rows.tables)
    assert models.rows(HOURS) == [
        ("other/grok.h005.a.b.7", 5.0, "model_id", None),
        ("org/kimi.h001.a.1", 1.0, "mtime", None),
        ("org/kimi.h002.a.2", 2.0, "mtime", None),
        ("org/kimi.h003.a.3", 3.0, "extrapolated", None),
        ("org/kimi.h077.b.1", 77.0, "model_id", None),
        ("org/kimi.hNA.b.2", None, "unrecoverable", 77.0),
        # An id can't know better than the run's end.
        ("org/kimi.hNA.b.3", None, "unrecoverable", 77.0),
        ("plain-name", None, "unrecoverable", None),
    ]
    parts = "select cell, family, step, source_kind, eos_ok from checkpoints where source_kind <> 'sweep' order by 1"
    assert models.rows(parts) == [("grok", "a.b", 7, "folder", None), (None, None, None, "folder", None)]
    # The sweep's own files tell how it was packaged, not the upload's.
    assert models.rows("select eos_ok from checkpoints where checkpoint_key = 'kimi/b/1'") == [(True,)]


def test_a_manifest_is_taken_as_it_says(models, rows):
    says = {"cell": "kimi", "driver": "kimi-code", "effort": "high"}
    rows.published("org/kimi.h012.a.1", 12.75, "mtime", role="SUBMITTED", driver_tokens_at_hour=500.0, **says)
    rows.published("org/kimi.hNA.a.2", None, "unrecoverable", hour_upper_bound=44.0, role="fallback", **says)
    rows.published("org/kimi.h014.a.3", 14.0, "extrapolated", eos_ok=True, eos_token_ids=[7], **says)
    rows.published("org/kimi.h015.a.4", 15.0, None, driver_tokens_at_hour=None, **says)
    rows.published("org/kimi.h016.a.5", None, None, driver_tokens_at_hour=900.0, checkpoint_source="spare", **says)
    rows.published("Qwen/base", 0.0, "baseline", cell="BASELINE")
    # An id of another form is of the cell that its row names, and of no family.
    rows.published("odd", 3.0, "mtime", cell="kimi")
    models.run(rows.tables)
    columns = "model_id, hour, hour_source, hour_upper_bound, driver_tokens_at_hour, role, eos_ok, eos_source, source"
    assert models.rows(f"select {columns} from checkpoints order by 1") == [
        ("odd", 3.0, "mtime", None, None, None, None, None, None),
        ("org/kimi.h012.a.1", 12.75, "mtime", None, 500, "SUBMITTED", None, None, None),
        ("org/kimi.h014.a.3", 14.0, "extrapolated", None, None, None, True, "manifest", None),
        ("org/kimi.h015.a.4", 15.0, "published", None, None, None, None, None, None),
        ("org/kimi.h016.a.5", 16.0, "model_id", None, 900, None, None, None, "spare"),
        ("org/kimi.hNA.a.2", None, "unrecoverable", 44.0, None, "fallback", None, None, None),
    ]
    assert models.rows("select driver, effort, is_declared, submitted_hour from cells") == [
        ("kimi-code", "high", True, 12.75)
    ]
    assert models.rows("select cell, family, checkpoint_count from checkpoint_families") == [("kimi", "a", 5)]
