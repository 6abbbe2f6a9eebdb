"""Mistakes in declared files are named with file, line and column; what passes is what DuckDB then reads."""

from pathlib import Path

import duckdb
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from homes.declared import CHECKS, check_declared, declared_rows
from homes.errors import DeclaredError
from homes.lock import open_home
from tests.python.support.command import query, seamline

ARMS = "arm,expected_step_count,expected_rollouts_per_step,is_running,position_key,headline_metric,leaf_run_id,note"


@pytest.fixture
def declared(home: Path) -> Path:
    with open_home(home) as opened:
        return opened.declared


def mistake(declared: Path) -> str:
    with open_home(declared.parent) as opened, pytest.raises(DeclaredError) as caught:
        check_declared(opened)
    return str(caught.value)


CASES = [
    ("a typo in a column", "arm,expected_steps\n", "line 1: unknown column 'expected_steps'"),
    ("a required column left out", "note\n", "line 1: missing column 'arm', which every row needs"),
    ("a column twice", ARMS + ",note\n", "line 1: a column appears twice"),
    ("an empty file", "", "empty; its first line must be arm,"),
    ("a number that is none", f"{ARMS}\na,1,,,,,,\nb,many,,,,,,\n", "line 3, column 'expected_step_count': 'many'"),
    ("a fraction where none goes", f"{ARMS}\nb,1.5,,,,,,\n", "line 2, column 'expected_step_count': '1.5'"),
    ("a number of another script", f"{ARMS}\nb,５,,,,,,\n", "line 2, column 'expected_step_count': '５'"),
    ("a boolean that is none", f"{ARMS}\nb,1,,yes,,,,\n", "line 2, column 'is_running': 'yes' is not true or false"),
    (
        "null for unknown",
        f"{ARMS}\nb,NULL,,,,,,\n",
        "line 2, column 'expected_step_count': 'NULL'; leave the cell empty",
    ),
    ("a required cell left empty", f"{ARMS}\n,1,,,,,,\n", "line 2, column 'arm': empty"),
    ("an unquoted comma", f"{ARMS}\nb,1,,,,,,slow, then fast\n", "line 2: 9 cells, but the header has 8"),
    (
        "a mistake below a note of two lines",
        f'{ARMS}\na,1,,,,,,"two\nlines"\nb,x,,,,,,\n',
        "line 4, column 'expected_s",
    ),
    ("an arm twice", f"{ARMS}\na,1,,,,,,\nb,1,,,,,,\na,2,,,,,,\n", "line 4: arm 'a' stands in line 2 already"),
    ("a stray quote", f'{ARMS}\n"a"b,1,,,,,,\n', "not a CSV file"),
]


def test_a_value_that_is_none_of_those_allowed(declared):
    (declared / "run_roles.csv").write_text("run_id,role,note\nwb-*,Diagnostic,\n")
    assert mistake(declared).endswith("line 2, column 'role': 'Diagnostic'; it is one of formal, diagnostic")


@pytest.mark.parametrize(("text", "expected"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_a_mistake_is_named_with_its_place(declared, text, expected):
    (declared / "arms.csv").write_text(text)
    message = mistake(declared)
    assert message.startswith(f"{declared / 'arms.csv'}") and expected in message


def test_text_in_another_encoding_an_unknown_file_and_a_missing_one_are_named(declared):
    (declared / "arms.csv").write_bytes(f"{ARMS}\nprüf,1,,,,,,\n".encode("latin-1"))
    assert f"not UTF-8 text (byte {len(ARMS) + 3})" in mistake(declared)
    (declared / "arms.csv").write_text(f"{ARMS}\n")
    (declared / "armz.csv").write_text("arm\n")
    assert f"{declared / 'armz.csv'}: no such declared table; known are allowed_secrets" in mistake(declared)
    (declared / "armz.csv").unlink()
    with open_home(declared.parent) as opened:
        (declared / "arms.csv").unlink()
        with pytest.raises(DeclaredError, match=r"arms\.csv: missing; run `seamline init`"):
            check_declared(opened)


def test_build_tells_the_mistake_and_exits_1(home, declared):
    (declared / "arms.csv").write_text(f"{ARMS}\nb,many,,,,,,\n")
    done = seamline("build", home=home, check=False)
    assert done.returncode == 1
    assert (
        done.stderr
        == f"error: {declared / 'arms.csv'}, line 2, column 'expected_step_count': 'many' is not a whole number\n"
    )
    assert not (home / "warehouse.duckdb").exists()


def test_what_a_spreadsheet_saves_is_read_as_it_stands(home, declared):
    """Byte order mark, CRLF, columns in another order, a blank line, cells that begin with #, quotes, two lines."""
    (declared / "metric_notes.csv").write_bytes(
        '\ufeffnote,is_comparable,metric_pattern\r\n#1 of 2,TRUE,#loss\r\n\r\n"a ""b"", c\r\nd",,scores*\r\n'.encode()
    )
    seamline("build", home=home)
    rows = query(home, "select metric_pattern, note, is_comparable from declared.metric_notes order by 1")
    assert rows == [("#loss", "#1 of 2", True), ("scores*", 'a "b", c\r\nd', None)]


def test_a_column_that_no_row_must_fill_may_be_left_out(home, declared):
    """A home that is older than a column, or a file that says only what is known."""
    (declared / "arms.csv").write_text("note,arm\nslow,a\n")
    (declared / "decision_windows.csv").write_text("run_id,window_name,first_step,last_step,expected_candidate_count\n")
    (declared / "run_exclusions.csv").write_text("reason\nbroken\n")
    seamline("build", home=home)
    rows = query(home, "select arm, note, expected_step_count, is_running from declared.arms")
    assert rows == [("a", "slow", None, None)]
    assert query(home, "select reason, run_id, logged_from from declared.run_exclusions") == [("broken", None, None)]
    with open_home(home) as opened:
        assert declared_rows(opened, "arms") == [dict.fromkeys(ARMS.split(",")) | {"arm": "a", "note": "slow"}]


DUCKDB_TYPES = {
    pa.float64(): "double",
    pa.int64(): "bigint",
    pa.bool_(): "boolean",
    pa.timestamp("us"): "timestamp",
    pa.date32(): "date",
}
NUMBERLIKE = st.text(alphabet="0123456789+-.eE_ xinfa５", max_size=8)
TIMELIKE = st.text(alphabet="0123456789-:T W+Z.", min_size=8, max_size=20)


@settings(max_examples=400)
@given(st.sampled_from(sorted(DUCKDB_TYPES, key=str)), NUMBERLIKE | TIMELIKE | st.sampled_from(["true", "FALSE", "t"]))
@example(pa.date32(), "20260922")
@example(pa.date32(), "2026-W39-2")
@example(pa.int64(), "5_000")
@example(pa.int64(), "５")
@example(pa.int64(), " 5 ")
@example(pa.float64(), "1e400")
@example(pa.float64(), "nan")
@example(pa.bool_(), "1")
@example(pa.timestamp("us"), "2026-09-22 20:14Z")
@example(pa.timestamp("us"), "2026-09-22 20:14:00+02")
def test_a_cell_that_passes_is_the_value_that_duckdb_reads(kind, text):
    try:
        value = CHECKS[kind][0](text)
    except ValueError:
        return
    assert duckdb.execute(f"select try_cast(? as {DUCKDB_TYPES[kind]})", [text]).fetchall() == [(value,)]
