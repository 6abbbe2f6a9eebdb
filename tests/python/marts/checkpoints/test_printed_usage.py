"""What `claude -p` and `codex exec` printed: spent, at no known hour, and never twice."""

import pytest

from tests.python.support.checkpoints.rows import SPENT, Rows, at


@pytest.fixture
def rows():
    rows = Rows()
    rows.add("cells", cell="kimi")
    rows.cell(submitted="a/1")
    return rows


def printed(rows, tokens, usage_format, log, session, **row):
    """A report without a time."""
    rows.usage(0, tokens, log=log, usage_format=usage_format, session_id=session, **row | {"logged_at": None})


def test_printed_results_are_spent_at_an_unknown_hour(models, rows):
    rows.usage(1, (10, 0, 0), log="timed")
    # One answer of `claude -p`: 5 + 1,000 + 20 + 75 by its main agent, 100 more by a smaller model.
    main = {"last_input_tokens": 5, "last_cached_input_tokens": 1000, "last_cache_write_tokens": 20}
    result = {"cache_write_tokens": 20, "message_id": "u1", "last_output_tokens": 75} | main
    printed(rows, (95, 1000, 85), "claude_result", "claude", "c", **result)
    printed(rows, (95, 1000, 85), "claude_result", "copy", "c", **result)
    # The messages that were printed on the way to it.
    printed(rows, (5, 1000, 1), "claude_code", "claude", "c", message_id="m1", cache_write_tokens=20)
    # A thread of `codex exec` and its next file: 300, then 450 in all.
    printed(rows, (290, 200, 10), "codex_exec", "exec b", "t")
    printed(rows, (430, 200, 20), "codex_exec", "exec a", "t")
    printed(rows, (7, 0, 1), "codex_exec", "exec c", "t2")
    rows.checkpoint("a/1", hours=[9.0])
    models.run(rows.tables)
    assert models.rows(
        "select source_name, spent_tokens, spent_at, drop_reason from driver_spending order by 1, line_number"
    ) == [
        ("claude", 1200, None, None),
        ("claude", 0, None, "in_result"),
        ("copy", 0, None, "same_message"),
        ("exec a", 150, None, None),
        ("exec b", 300, None, None),
        ("exec c", 8, None, None),
        ("timed", 10, at(1), None),
    ]
    assert models.rows("select driver_tokens_at_hour from checkpoints") == [(None,)]
    ((subject, detail),) = models.rows(
        "select subject, detail from checkpoint_findings where kind = 'driver_hours_unknown'"
    )
    assert subject == "kimi" and detail.startswith("4 reports (1658 tokens; first: claude)")


def test_what_a_session_log_holds_is_not_counted_again_as_printed(models, rows):
    message = {"message_id": "m1", "cache_write_tokens": 5, "session_id": "s"}
    rows.usage(1, (10, 1000, 90), usage_format="claude_code", **message)
    printed(rows, (10, 1000, 90), "claude_result", "claude", "s", cache_write_tokens=5, message_id="u1")
    rows.usage(2, (100, 0, 7), log="rollout", usage_format="codex", session_id="t")
    printed(rows, (100, 0, 7), "codex_exec", "exec", "t")
    rows.checkpoint("a/1", hours=[9.0])
    models.run(rows.tables)
    assert models.rows(SPENT) == [
        ("a", 1, 1105, None),
        ("claude", 1, 0, "in_session_log"),
        ("exec", 1, 0, "in_session_log"),
        ("rollout", 1, 107, None),
    ]
    assert models.rows("select driver_tokens_at_hour from checkpoints") == [(1212,)]


def test_answers_of_one_process_and_of_several_in_one_file(models, rows):
    def answer(total, last):
        counts = {"last_input_tokens": last, "last_cached_input_tokens": 0, "last_cache_write_tokens": 0}
        printed(rows, (total, 0, 0), "claude_result", "out", "s", last_output_tokens=0, **counts)

    # `modelUsage` of one process grows: 100, then 260 in all. Two more processes begin anew.
    for total, last in ((100, 90), (260, 150), (50, 50), (90, 90)):
        answer(total, last)
    models.run(rows.tables)
    assert [row[2] for row in models.rows(SPENT)] == [100, 160, 50, 90]
