"""What drivers had spent, counted by hand: nothing twice."""

import pytest

from tests.python.support.checkpoints.rows import Rows

SPENT = "select source_name, line_number, spent_tokens, drop_reason from driver_spending order by 1, 2"


@pytest.fixture
def rows():
    rows = Rows()
    rows.add("cells", cell="kimi")
    rows.cell(submitted="a/1")
    return rows


def codex(rows, hour, tokens, log="a", session="s", parent=None, cell="kimi"):
    session_row = {"session_id": session, "parent_session_id": parent}
    rows.usage(hour, tokens, log=log, cell=cell, usage_format="codex", **session_row)


def claude(rows, hour, tokens, message, written=0, log="a", cell="kimi"):
    row = {"message_id": message, "cache_write_tokens": written, "session_id": "s"}
    rows.usage(hour, tokens, log=log, cell=cell, usage_format="claude_code", **row)


def test_increments_count_input_and_output_and_cached_input_is_part_of_input(models, rows):
    rows.usage(1, (100, 80, 10))
    rows.usage(2, (5, None, None))
    rows.usage(3, (None, None, 7))
    models.run(rows.tables)
    assert models.rows(SPENT) == [("a", 1, 110, None), ("a", 2, 5, None), ("a", 3, 7, None)]


def test_a_running_total_counts_what_it_grows_and_again_from_zero_when_it_falls(models, rows):
    for hour, tokens in enumerate([(100, 50, 10), (100, 50, 10), (150, 90, 20), (0, 0, 0), (30, 0, 3), (40, 0, 3)]):
        codex(rows, hour, tokens)
    models.run(rows.tables)
    assert models.rows(SPENT) == [
        ("a", 1, 110, None),
        ("a", 2, 0, "repeated"),
        ("a", 3, 60, None),
        ("a", 4, 0, None),
        ("a", 5, 33, None),
        ("a", 6, 10, None),
    ]
    found = models.rows("select kind, subject, detail from checkpoint_findings where kind like 'session%'")
    assert [row[:2] for row in found] == [("session_total_restarts", "a")]
    assert found[0][2].startswith("1 times") and found[0][2].endswith("line 4")


def test_a_fork_s_replay_of_its_parent_adds_nothing(models, rows):
    for hour, total in enumerate([100, 300, 600], 1):
        codex(rows, hour, (total, 0, 1), log="parent", session="p")
    # The fork replays two reports at its own time, then goes on from there; so does its own fork.
    for hour, total in [(9, 100), (9, 300), (10, 350)]:
        codex(rows, hour, (total, 0, 1), log="fork", session="f", parent="p")
    for hour, total in [(20, 100), (20, 300), (20, 350), (21, 1000)]:
        codex(rows, hour, (total, 0, 1), log="grandchild", session="g", parent="f")
    models.run(rows.tables)
    assert models.rows(SPENT) == [
        ("fork", 1, 0, "replayed"),
        ("fork", 2, 0, "replayed"),
        ("fork", 3, 50, None),
        ("grandchild", 1, 0, "replayed"),
        ("grandchild", 2, 0, "replayed"),
        ("grandchild", 3, 0, "replayed"),
        ("grandchild", 4, 650, None),
        ("parent", 1, 101, None),
        ("parent", 2, 200, None),
        ("parent", 3, 300, None),
    ]


def test_a_fork_whose_parent_is_lost_counts_its_history_once(models, rows):
    for log in ("one", "two"):
        codex(rows, 1, (100, 0, 0), log=log, session=log, parent="lost")
        codex(rows, 2, (150 if log == "one" else 175, 0, 0), log=log, session=log, parent="lost")
    models.run(rows.tables)
    assert [row[2] for row in models.rows(SPENT)] == [100, 50, 0, 75]


def test_sessions_that_happen_to_agree_are_no_replay(models, rows):
    codex(rows, 1, (100, 0, 0), log="one", session="one")
    codex(rows, 5, (100, 0, 0), log="two", session="two")
    codex(rows, 1, (100, 0, 0), log="three", session="three", parent="elsewhere", cell="grok")
    codex(rows, 7, (100, 0, 0), log="unnamed", session=None)
    codex(rows, 8, (100, 0, 0), log="unnamed too", session=None)
    models.run(rows.tables)
    assert [row[2] for row in models.rows(SPENT)] == [100] * 5


def test_one_session_copied_under_two_names_counts_once(models, rows):
    for log, totals in (("a", (100, 200)), ("b", (100, 200, 260))):
        for hour, total in enumerate(totals, 1):
            codex(rows, hour, (total, 0, 0), log=log, session="same")
    models.run(rows.tables)
    assert [row[2:] for row in models.rows(SPENT)] == [
        (100, None), (100, None), (0, "replayed"), (0, "replayed"), (60, None)
    ]  # fmt: skip


def test_lines_of_one_message_count_once_at_its_largest_and_from_its_first_line(models, rows):
    claude(rows, 1.0, (10, 1000, 1), "m1", written=5)
    claude(rows, 1.1, (10, 1000, 90), "m1", written=5)
    claude(rows, 1.2, (10, 1000, 90), "m1", written=5)
    # A resumed session copies the call; another cell has a call of its own; a line without an id is its own call.
    claude(rows, 0.9, (10, 1000, 90), "m1", written=5, log="resumed")
    claude(rows, 2.0, (1, None, 1), "m1", log="x", cell="grok", written=None)
    claude(rows, 3.0, (2, 0, 2), None, log="y")
    claude(rows, 3.0, (2, 0, 2), None, log="y")
    models.run(rows.tables)
    assert models.rows(SPENT) == [
        ("a", 1, 0, "same_message"),
        ("a", 2, 0, "same_message"),
        ("a", 3, 0, "same_message"),
        ("resumed", 1, 1105, None),
        ("x", 1, 2, None),
        ("y", 1, 4, None),
        ("y", 2, 4, None),
    ]


def test_a_call_is_spent_when_its_first_line_was_written(models, rows):
    claude(rows, 1.0, (10, 0, 1), "m1")
    claude(rows, 1.5, (10, 0, 90), "m1")
    for step, hour in enumerate([0.5, 1.0, 1.2], 1):
        rows.checkpoint(f"a/{step}", hours=[hour])
    models.run(rows.tables)
    assert models.rows("select step, driver_tokens_at_hour from checkpoints order by 1") == [(1, 0), (2, 100), (3, 100)]


def test_a_report_of_the_same_moment_is_spent_and_a_later_one_is_not(models, rows):
    rows.usage(-1, (1, 0, 0))
    rows.usage(5, (10, 0, 0), log="b")
    rows.usage(7, (100, 0, 0), log="b")
    for step, hour in enumerate([4.999, 5.0, 6.0, 7.0], 1):
        rows.checkpoint(f"a/{step}", hours=[hour])
    rows.checkpoint("b/1")
    rows.cell("grok", submitted="a/1")
    rows.checkpoint("a/1", hours=[50.0], cell="grok")
    models.run(rows.tables)
    tokens = "select checkpoint_key, driver_tokens_at_hour from checkpoints order by 1"
    assert models.rows(tokens) == [
        ("grok/a/1", None),
        ("kimi/a/1", 1),
        ("kimi/a/2", 11),
        ("kimi/a/3", 11),
        ("kimi/a/4", 111),
        ("kimi/b/1", None),
    ]


def test_a_clock_that_runs_backwards_is_a_finding(models, rows):
    for hour in (1, 3, 2, 5, 4):
        rows.usage(hour, (10, 0, 0))
    rows.usage(1, (10, 0, 0), log="b")
    rows.usage(1, (10, 0, 0), log="b")
    rows.checkpoint("a/1", hours=[2.5])
    models.run(rows.tables)
    found = models.rows("select kind, subject, detail from checkpoint_findings order by all")
    assert [row[:2] for row in found] == [("session_clock_runs_backwards", "a")]
    assert found[0][2] == "2 reports are older than the line before, first in line 3"
    assert models.rows("select driver_tokens_at_hour from checkpoints") == [(40,)]
