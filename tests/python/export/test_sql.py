"""`seamline sql`: answers in three spellings, changes nothing, reaches nothing outside the home, says what is wrong."""

import csv
import hashlib
import io
import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from tests.python.support.command import ROOT, query, seamline

KINDS = """select 'a,"b' as text, 1.5::decimal(9, 2) as money, 'nan'::double as odd, '-inf'::double as low,
    null as none, [1, null] as list, timestamp '2026-01-02 03:04:05' as moment, date '2026-01-02' as day, true as flag,
    9007199254740993 as large"""


def ask(home: Path, sql: str, *options: str, check: bool = True) -> subprocess.CompletedProcess:
    return seamline("sql", sql, *options, home=home, check=check)


def test_an_answer_as_csv_json_and_tabs(demo):
    found = query(demo, "select arm, step_count, median_gap from arms order by arm")
    sql = "select arm, step_count, median_gap from arms order by arm"
    header, *rows = csv.reader(io.StringIO(ask(demo, sql, "--csv").stdout))
    assert header == ["arm", "step_count", "median_gap"]
    assert [(a, int(s), float(g) if g else None) for a, s, g in rows] == found
    assert [tuple(row.values()) for row in json.loads(ask(demo, sql, "--json").stdout)] == found
    first, *lines = ask(demo, sql).stdout.splitlines()
    assert first == "arm\tstep_count\tmedian_gap" and len(lines) == len(found)


def test_every_kind_of_value_has_one_spelling(demo):
    (row,) = json.loads(ask(demo, KINDS, "--json").stdout)
    assert row == {
        "text": 'a,"b',
        "money": 1.5,
        "odd": "NaN",
        "low": "-Infinity",
        "none": None,
        "list": [1, None],
        "moment": "2026-01-02 03:04:05",
        "day": "2026-01-02",
        "flag": True,
        "large": 9007199254740993,
    }
    (row,) = csv.DictReader(io.StringIO(ask(demo, KINDS, "--csv").stdout))
    assert row["text"] == 'a,"b' and row["odd"] == "NaN" and row["none"] == "" and row["flag"] == "true"
    assert row["large"] == "9007199254740993" and row["moment"] == "2026-01-02 03:04:05"


def test_no_row_is_no_error(demo):
    assert ask(demo, "select arm from arms where false", "--json").stdout == "[]\n"
    assert ask(demo, "select arm from arms where false", "--csv").stdout == "arm\n"
    assert ask(demo, "select arm from arms where false").stdout == "arm\n"


def test_a_terminal_gets_a_table_and_is_told_of_rows_left_out(demo):
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "seamline", "sql", "select range as number_of_row from range(300)"]
    environment = os.environ | {"PYTHONPATH": str(ROOT), "SEAMLINE_HOME": str(demo), "COLUMNS": "60"}
    with subprocess.Popen(command, env=environment, stdout=theirs) as process:
        os.close(theirs)
        shown = b""
        while True:
            try:
                shown += os.read(ours, 65536)
            except OSError:
                break
        assert process.wait() == 0
    text = shown.decode()
    assert "number_of_row" in text and "│ 199" in text and "│ 200" not in text
    assert "and 100 more rows" in text


def digests(home: Path) -> dict[str, str]:
    return {
        str(path): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(home.rglob("*"))
        if path.is_file() and path.name != ".lock"
    }


def test_nothing_is_changed_and_nothing_outside_is_read(demo, tmp_path):
    secret = tmp_path / "secret.csv"
    secret.write_text("a\n1\n")
    before = digests(demo)
    for sql in (
        "drop table arms",
        "create table mine as select 1",
        "insert into arms (arm) values ('x')",
        f"copy arms to '{tmp_path / 'arms.csv'}'",
        f"copy (select 1) to '{demo / 'landing' / 'x.csv'}'",
        f"attach '{tmp_path / 'other.duckdb'}'",
        f"explain analyze copy arms to '{demo / 'landing' / 'y.csv'}'",
        "set enable_external_access = true",
        "select 1; drop table arms",
        f"from read_csv('{secret}')",
        f"from '{secret}'",
        f"from read_text('{demo}/../secret.csv')",
        f"from read_csv('{demo / 'landing'}/../../../secret.csv')",
        "from glob('/etc/*')",
        "select getenv('HOME')",
        "install httpfs",
        "load httpfs",
    ):
        done = ask(demo, sql, check=False)
        assert done.returncode == 1, sql
        assert done.stdout == "" and done.stderr.startswith("error: "), sql
        assert "Traceback" not in done.stderr
    assert digests(demo) == before
    assert sorted(tmp_path.iterdir()) == [secret]


def test_what_landed_can_be_asked(demo):
    count = int(ask(demo, "select count(*) as n from stg_history__rows", "--csv").stdout.split()[1])
    assert count == query(demo, "select count(*) from run_rows")[0][0] > 100
    assert "metric_pattern" in ask(demo, "describe declared.metric_notes").stdout


@pytest.mark.parametrize(
    ("sql", "told"),
    [
        ("select * from armz", 'Did you mean "arms"?'),
        ("select stepcount from arms", 'Candidate bindings: "step_count"'),
        ("selekt 1", 'syntax error at or near "selekt"'),
        ("", "0 statements; give one query at a time"),
        ("select 1; select 2", "2 statements; give one query at a time"),
        ("select 1/", "syntax error"),
        ("select 'x'::int", "Could not convert string 'x' to INT32"),
    ],
)
def test_an_error_says_what_is_wrong(demo, sql, told):
    done = ask(demo, sql, check=False)
    assert done.returncode == 1 and told in done.stderr and "Traceback" not in done.stderr


def test_wrong_usage_and_nothing_built(demo, home):
    assert ask(demo, "select 1", "--csv", "--json", check=False).returncode == 2
    done = ask(home, "select 1", check=False)
    assert done.returncode == 1 and "nothing is built yet; run `seamline build`" in done.stderr
    assert not home.exists()  # asking makes no home
