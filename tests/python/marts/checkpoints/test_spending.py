"""What drivers had spent, counted by hand: nothing twice."""

import pytest

from tests.python.support.checkpoints.rows import SPENT, Rows, at


@pytest.fixture
def rows():
    rows = Rows()
    rows.add("cells", cell="kimi")
    rows.cell(submitted="a/1")
    return rows


def codex(rows, hour, tokens, log="a", session="s", parent=None, cell="kimi", last=None, began=None):
    """A running total; `last` is (input, output) of the last call, `began` the hour at which the session began."""
    row = {
        "session_id": session,
        "parent_session_id": parent,
        "session_started_at": None if began is None else at(began),
    }
    row |= dict(zip(("last_input_tokens", "last_output_tokens"), last or (None, None), strict=True))
    rows.usage(hour, tokens, log=log, cell=cell, usage_format="codex", **row)


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


def test_a_fork_whose_parent_is_lost_counts_only_what_is_known_to_be_its_own(models, rows):
    # Its first total may hold its parent's, and nothing says how much of it: unknown, not its own.
    for log, total in (("one", 150), ("two", 175)):
        codex(rows, 1, (100, 0, 0), log=log, session=log, parent="lost")
        codex(rows, 2, (total, 0, 0), log=log, session=log, parent="lost")
    # What was written when the session began is its parent's; the last call tells what is its own.
    codex(rows, 1, (100, 0, 0), log="three", session="three", parent="lost", last=(100, 0), began=1)
    codex(rows, 1, (160, 0, 0), log="three", session="three", parent="lost", last=(60, 0), began=1)
    codex(rows, 2, (190, 0, 0), log="three", session="three", parent="lost", last=(30, 0), began=1)
    codex(rows, 2, (1000, 0, 9), log="four", session="four", parent="lost", last=(70, 2), began=1)
    rows.checkpoint("a/1", hours=[9.0])
    models.run(rows.tables)
    assert [row[2:] for row in models.rows(SPENT)] == [
        (72, None), (None, None), (50, None), (0, "replayed"), (0, "replayed"), (30, None), (None, None), (75, None)
    ]  # fmt: skip
    assert models.rows("select kind, subject from checkpoint_findings where kind like 'session%' order by all") == [
        ("session_parent_missing", "kimi lost"),
        ("session_start_unknown", "one"),
        ("session_start_unknown", "two"),
    ]
    assert models.rows("select driver_tokens_at_hour from checkpoints where hour is not null") == [(None,)]


def test_children_that_start_at_their_parent_s_total_add_their_own_calls(models, rows):
    codex(rows, 1, (1000, 0, 5), log="parent", session="p", last=(1000, 5))
    codex(rows, 2, (3000, 0, 9), log="parent", session="p", last=(2000, 4))
    # Children of P, without its history: 3,009 + 101, 3,009 + 101 again, and one that counts from zero.
    codex(rows, 3, (3100, 0, 10), log="c1", session="c1", parent="p", last=(100, 1))
    codex(rows, 4, (3150, 0, 11), log="c1", session="c1", parent="p", last=(50, 1))
    codex(rows, 3, (3100, 0, 10), log="c2", session="c2", parent="p", last=(100, 1))
    codex(rows, 3, (40, 0, 2), log="c3", session="c3", parent="p", last=(40, 2))
    # A grandchild that repeats the history of P and c1, and then takes 30 + 1.
    for total, last in (((1000, 0, 5), (1000, 5)), ((3000, 0, 9), (2000, 4)), ((3100, 0, 10), (100, 1))):
        codex(rows, 5, total, log="g", session="g", parent="c1", last=last)
    codex(rows, 6, (3130, 0, 11), log="g", session="g", parent="c1", last=(30, 1))
    models.run(rows.tables)
    assert models.rows("select source_name, sum(spent_tokens) from driver_spending group by 1 order by 1") == [
        ("c1", 152), ("c2", 101), ("c3", 42), ("g", 31), ("parent", 3009)
    ]  # fmt: skip
    assert models.rows("select count(*) from driver_spending where drop_reason = 'replayed'") == [(3,)]
    assert models.rows("select kind from checkpoint_findings where kind like 'session%'") == []


def test_siblings_that_happen_to_agree_both_count(models, rows):
    codex(rows, 1, (1000, 0, 5), log="parent", session="p", last=(1000, 5))
    for hour, log in enumerate(("c1", "c2", "c3"), 2):
        codex(rows, hour, (200, 0, 5), log=log, session=log, parent="p", last=(200, 5))
    models.run(rows.tables)
    assert [row[2:] for row in models.rows(SPENT)] == [(205, None)] * 3 + [(1005, None)]


def test_a_counter_that_starts_again_above_its_last_value_counts_whole(models, rows):
    codex(rows, 1, (100, 0, 10), last=(100, 10))
    codex(rows, 2, (150, 0, 15), last=(50, 5))
    # Anew, and at once above 165.
    codex(rows, 3, (400, 0, 20), last=(400, 20))
    # The same once more, as on every refresh; then on.
    codex(rows, 4, (400, 0, 20), last=(400, 20))
    codex(rows, 5, (430, 0, 22), last=(30, 2))
    # Back to the point of 165, from there 500 and 7: the counter grew by 220, the call took more.
    codex(rows, 6, (650, 0, 22), last=(500, 7))
    # Anew, and by chance where it stood.
    codex(rows, 7, (650, 0, 22), last=(650, 22))
    # Reports were missed: what the counter grew counts.
    codex(rows, 8, (1650, 0, 22), last=(100, 0))
    models.run(rows.tables)
    assert models.rows("select spent_tokens, is_reset, drop_reason from driver_spending order by line_number") == [
        (110, False, None),
        (55, False, None),
        (420, True, None),
        (0, False, "repeated"),
        (32, False, None),
        (507, True, None),
        (672, True, None),
        (1000, False, None),
    ]


def test_a_session_that_goes_on_in_another_log_goes_on_counting(models, rows):
    codex(rows, 1, (100, 0, 0), log="z", session="s", last=(100, 0))
    codex(rows, 2, (250, 0, 0), log="z", session="s", last=(150, 0))
    codex(rows, 3, (280, 0, 0), log="a", session="s", last=(30, 0))
    models.run(rows.tables)
    assert [row[2] for row in models.rows(SPENT)] == [30, 100, 150]


def test_sessions_that_happen_to_agree_are_no_replay(models, rows):
    codex(rows, 1, (100, 0, 0), log="one", session="one")
    codex(rows, 1, (100, 0, 0), log="three", session="three", parent="one", last=(100, 0), cell="grok")
    codex(rows, 5, (100, 0, 0), log="two", session="two")
    codex(rows, 7, (100, 0, 0), log="unnamed", session=None)
    codex(rows, 8, (100, 0, 0), log="unnamed too", session=None)
    models.run(rows.tables)
    assert [row[2] for row in models.rows(SPENT)] == [100] * 5


def test_sessions_that_name_each_other_as_parents_end(models, rows):
    for total, (log, parent) in enumerate((("one", "two"), ("two", "one"), ("self", "self")), 100):
        codex(rows, 1, (total, 0, 0), log=log, session=log, parent=parent, last=(10, 0))
    models.run(rows.tables)
    assert models.rows("select count(*), sum(spent_tokens) from driver_spending where drop_reason is null") == [(3, 30)]


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
