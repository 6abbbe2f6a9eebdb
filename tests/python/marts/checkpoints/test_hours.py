"""Hours by the times of files and the archive log, worked out by hand."""

import pytest

from tests.python.support.checkpoints.rows import HOURS, KINDS, Rows


@pytest.fixture
def rows():
    rows = Rows()
    rows.add("cells", cell="kimi")
    return rows


def test_the_newest_file_time_inside_the_run_is_the_hour_and_its_bounds_belong_to_the_run(models, rows):
    rows.cell(end=100, submitted="a/1")
    rows.checkpoint("a/1", hours=[0.0])
    rows.checkpoint("a/2", hours=[1.0, 41.999, 7.0])
    rows.checkpoint("a/3", hours=[100.0])
    models.run(rows.tables)
    assert models.rows(HOURS) == [
        ("org/kimi.h000.a.1", 0.0, "mtime", None),
        ("org/kimi.h041.a.2", 41.999, "mtime", None),
        ("org/kimi.h100.a.3", 100.0, "mtime", None),
    ]
    assert models.rows(KINDS) == []


def test_an_hour_outside_the_run_is_a_finding_and_no_value(models, rows):
    rows.cell(end=100, submitted="a/1")
    rows.checkpoint("a/1", hours=[-0.5])
    rows.checkpoint("a/2", hours=[100.5])
    rows.checkpoint("b/1", hours=[100.5])
    rows.archive("b/1", 30.25)
    rows.checkpoint("b/2")
    rows.archive("b/2", -3.0)
    rows.archive("b/2", 101.0, line=2)
    models.run(rows.tables)
    assert models.rows(HOURS) == [
        ("org/kimi.hNA.a.1", None, "unrecoverable", None),
        ("org/kimi.hNA.a.2", None, "unrecoverable", None),
        ("org/kimi.h030.b.1", 30.25, "janitor", None),
        ("org/kimi.hNA.b.2", None, "unrecoverable", 30.25),
    ]
    assert [row for row in models.rows(KINDS) if row[0] == "hour_outside_run"] == [
        ("hour_outside_run", "org/kimi.h030.b.1"),
        ("hour_outside_run", "org/kimi.hNA.a.1"),
        ("hour_outside_run", "org/kimi.hNA.a.2"),
        ("hour_outside_run", "org/kimi.hNA.b.2"),
    ]
    details = dict(models.rows("select subject, detail from checkpoint_findings where kind = 'hour_outside_run'"))
    assert details["org/kimi.hNA.a.1"] == "mtime says hour -0.5, before the run began"
    assert "after the run ended" in details["org/kimi.hNA.a.2"]
    assert "janitor says hour -3.0, before" in details["org/kimi.hNA.b.2"]


def test_a_run_that_goes_on_has_no_end_to_lie_behind(models, rows):
    rows.cell(end=None)
    rows.checkpoint("a/1", hours=[4000.0])
    rows.checkpoint("a/2", hours=[1.0])
    rows.archive("a/3", 7000.0)
    rows.checkpoint("a/3")
    models.run(rows.tables)
    assert models.rows(HOURS) == [
        ("org/kimi.h4000.a.1", 4000.0, "mtime", None),
        ("org/kimi.h001.a.2", 1.0, "mtime", None),
        ("org/kimi.h7000.a.3", 7000.0, "janitor", None),
    ]


def test_of_several_archive_lines_the_first_inside_the_run_counts(models, rows):
    rows.cell(submitted="a/1")
    rows.checkpoint("a/1")
    for line, hour in enumerate([-5.0, 60.0, 40.0, 200.0], 1):
        rows.archive("a/1", hour, line=line)
    rows.archive("a/1", 3.0, action="pruned", line=9)
    # The first and the last moment of the run are inside it.
    for path, hours in {"a/2": [-5.0, 0.0], "a/3": [-5.0, 100.0]}.items():
        rows.checkpoint(path)
        for line, hour in enumerate(hours, 20):
            rows.archive(path, hour, line=line)
    models.run(rows.tables)
    assert models.rows(HOURS) == [
        ("org/kimi.h040.a.1", 40.0, "janitor", None),
        ("org/kimi.h000.a.2", 0.0, "janitor", None),
        ("org/kimi.h100.a.3", 100.0, "janitor", None),
    ]


def test_three_within_a_minute_were_copied_and_two_were_not(models, rows):
    second = 1 / 3600
    rows.cell(submitted="a/1")
    # 100, 130 and 160 seconds: three within exactly a minute; 161 and 162 join them, 222 has only one neighbour.
    for step, seconds in enumerate([100, 130, 160, 161, 162, 223, 250], 1):
        rows.checkpoint(f"a/{step}", hours=[10 + seconds * second])
    # Two at a time, and three that need 61 seconds.
    for step, seconds in enumerate([0, 1, 1000, 1030, 1061], 1):
        rows.checkpoint(f"b/{step}", hours=[20 + seconds * second])
    # Another cell's clock does not count.
    rows.cell("grok", submitted="a/1")
    rows.checkpoint("a/1", hours=[20.0], cell="grok")
    rows.add("cells", cell="grok")
    models.run(rows.tables)
    told = models.rows("select checkpoint_key from checkpoint_hours where drop_reason = 'flattened' order by all")
    assert told == [("kimi/a/1",), ("kimi/a/2",), ("kimi/a/3",), ("kimi/a/4",), ("kimi/a/5",)]
    assert ("mtimes_flattened", "kimi") in models.rows(KINDS)
    assert ("mtimes_flattened", "grok") not in models.rows(KINDS)
    detail = models.rows("select detail from checkpoint_findings where kind = 'mtimes_flattened'")[0][0]
    assert detail.startswith("5 checkpoints share") and "2026-08-03 16:01:40" in detail


def test_without_a_start_there_are_no_hours(models, rows):
    rows.cell(start=None, end=100)
    rows.checkpoint("a/1", hours=[1.0])
    models.run(rows.tables)
    assert models.rows(HOURS) == [("org/kimi.hNA.a.1", None, "unrecoverable", None)]
    assert ("cell_without_start", "kimi") in models.rows(KINDS)


def test_an_id_that_does_not_read_back_is_a_finding_and_ids_stay_apart(models, rows):
    rows.cell(submitted="a.b/c")
    rows.checkpoint("a.b/c", hours=[1.0])
    rows.checkpoint("a/b.c", hours=[1.5])
    models.run(rows.tables)
    assert models.rows("select model_id, family, step_name from checkpoints order by 1") == [
        ("org/kimi.h001.a.b.c", "a.b", "c"),
        ("org/kimi.h001.a.b.c~2", "a", "b.c"),
    ]
    assert ("ambiguous_model_id", "org/kimi.h001.a.b.c~2") in models.rows(KINDS)
    assert ("ambiguous_model_id", "org/kimi.h001.a.b.c") not in models.rows(KINDS)


def test_of_two_folders_of_one_cell_the_fuller_counts(models, rows):
    rows.cell(submitted="a/1", source="copy", end=50)
    rows.cell(submitted="a/2", source="full")
    rows.checkpoint("a/1", hours=[60.0], source="copy")
    rows.checkpoint("a/1", hours=[10.0], source="full")
    rows.checkpoint("a/2", hours=[20.0], source="full")
    rows.checkpoint("a/3", hours=[30.0], source="full")
    models.run(rows.tables)
    assert models.rows("select model_id, role from checkpoints order by 1") == [
        ("org/kimi.h010.a.1", "intermediate"),
        ("org/kimi.h020.a.2", "SUBMITTED"),
        ("org/kimi.h030.a.3", "intermediate"),
    ]
    assert models.rows(KINDS) == [("cell_in_several_sources", "kimi")]
