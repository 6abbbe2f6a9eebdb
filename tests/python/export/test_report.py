"""The report's text: what it tells of a demo, what it makes of hostile names, and how it fails. The browser's part is
in test_report_browser.py."""

import json
import re
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import duckdb
import pytest

from export.report import page as report
from export.report import tables as report_tables
from export.report.dbt_tests import last_tests
from homes.paths import Home
from tests.python.support.command import query, seamline
from tests.python.support.planted import declare, land_run


class Page(HTMLParser):
    """Texts of the page by the section they stand in, and its elements."""

    def __init__(self, html: str):
        super().__init__()
        self.elements: list[tuple[str, dict]] = []
        self.texts: dict[str, str] = {}
        self._section = ""
        self._is_code = False
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.elements.append((tag, found))
        self._is_code = tag in ("script", "style")
        if tag == "section":
            self._section = found["id"]

    def handle_endtag(self, tag):
        self._is_code = False

    def handle_data(self, data):
        if not self._is_code:
            self.texts[self._section] = self.texts.get(self._section, "") + " " + " ".join(data.split())


def payload(html: str) -> dict:
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', html, re.DOTALL)[1])


@pytest.fixture(scope="module")
def html(demo: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    target = tmp_path_factory.mktemp("report") / "campaign.html"
    done = seamline("report", target, home=demo)
    assert str(target) in done.stdout
    return target.read_text()


@pytest.fixture(scope="module")
def page(html: str) -> Page:
    return Page(html)


def test_every_arm_stands_in_the_headline_table(page, demo):
    for arm, steps, runs, is_diagnostic in query(demo, "select arm, step_count, run_count, is_diagnostic from arms"):
        row = re.search(rf"{re.escape(arm)} .*? {steps:,} .*? {runs:,} ", page.texts["arms"])
        assert (row is None) == is_diagnostic, arm


def test_every_dropped_row_is_told_by_run_and_reason(html, demo):
    with duckdb.connect(str(demo / "warehouse.duckdb"), read_only=True) as warehouse:
        told = report_tables.dropped(warehouse)
    rows = told["rows"]
    counted = {}
    for row in rows:
        key = (row["run"], row["reason"].replace(" ", "_"))
        counted[key] = counted.get(key, 0) + int(row["count"].replace(",", ""))
    sql = "select run_id, drop_reason, count(*) from run_rows where drop_reason is not null group by all"
    assert counted == {(run, why): n for run, why, n in query(demo, sql)} != {}
    assert told["total"] == len(rows)


def test_tests_that_warn_show_the_rows_that_made_them(html, page, demo):
    with duckdb.connect(str(demo / "warehouse.duckdb"), read_only=True) as warehouse:
        tests = last_tests(Home(demo), warehouse)
    results = json.loads((demo / "target" / "run_results.json").read_text())["results"]
    warned = {r["unique_id"].split(".")[2]: r["failures"] for r in results if r["status"] == "warn"}
    shown = {t["name"]: t for t in tests["tests"] if t["status"] == "warn"}
    assert {name: test["failures"] for name, test in shown.items()} == warned != {}
    for test in shown.values():
        assert len(test["rows"]) == min(test["failures"], 20) and not test["problem"]
    dead = shown["no_metric_is_dead"]
    subjects = {subject for (subject,) in query(demo, "select metric from metrics where is_dead")}
    assert {row[dead["columns"].index("subject")] for row in dead["rows"]} == subjects
    assert all(subject in page.texts["tests"] for subject in subjects)
    assert tests["counts"]["pass"] == sum(r["status"] == "pass" and r["unique_id"].startswith("test.") for r in results)


def test_quarantine_findings_and_declared_caveats_are_told(page, demo):
    for source, locator, reason in query(demo, "select source, locator, reason from quarantined_records"):
        assert all(" ".join(text.split()) in page.texts["quarantine"] for text in (source, locator, reason))
    for texts in query(demo, "select subject, detail, remedy from findings"):
        assert all(" ".join(text.split()) in page.texts["caveats"] for text in texts)
    for (note,) in query(demo, "select note from declared.metric_notes"):
        assert note in page.texts["caveats"]


def test_tables_hold_what_the_marts_hold(html, demo):
    tables = {table["name"]: table for table in payload(html)["tables"]}
    for name, table in tables.items():
        (total,) = query(demo, f"select count(*) from {name}")[0]
        assert table["total"] == total
        assert len(table["rows"]) == (total if total <= 5_000 else 1_000)
        assert all(column["about"] for column in table["columns"]), name
    arms = tables["arms"]
    names = [column["name"] for column in arms["columns"]]
    expected = query(demo, f"select {', '.join(names)} from arms order by arm")
    assert [tuple(row) for row in arms["rows"]] == expected


def test_a_mart_over_5000_rows_shows_its_first_1000_and_says_where_the_rest_is(html, demo):
    (table,) = (t for t in payload(html)["tables"] if t["name"] == "arm_metrics")
    assert table["total"] > 5_000 and len(table["rows"]) == 1_000
    keys = "arm, training_step, metric"
    first = query(demo, f"select {keys} from arm_metrics order by {keys} limit 1000")
    assert [tuple(row[:3]) for row in table["rows"]] == first
    assert "by-arm/*.csv of an export" in table["elsewhere"] and 'seamline sql "select' in table["elsewhere"]


def test_the_page_fetches_nothing(page):
    for tag, attributes in page.elements:
        for name in ("src", "href", "action", "data", "poster", "srcset"):
            link = attributes.get(name)
            assert link is None or link.startswith(("#", "data:")), (tag, link)
    (policy,) = (a["content"] for t, a in page.elements if t == "meta" and a.get("http-equiv"))
    assert policy.startswith("default-src 'none'") and "http" not in policy and "unsafe-eval" not in policy


def test_headings_go_down_step_by_step(page):
    levels = [int(tag[1]) for tag, _ in page.elements if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(b <= a + 1 for a, b in pairwise(levels))
    charts = [a for tag, a in page.elements if tag == "div" and a.get("class") == "chart"]
    assert len(charts) == 13 and all(len(chart["aria-label"]) > 30 for chart in charts)


def test_the_same_home_gives_the_same_page(html, demo, tmp_path):
    target = tmp_path / "again.html"
    seamline("report", target, home=demo)
    assert target.read_text() == html
    assert [path.name for path in tmp_path.iterdir()] == ["again.html"]


NASTY = "</script><!-- <script>alert(1)</script> \"' & <b>"


def test_names_from_data_are_text(home, tmp_path):
    rows = [{"global_step": 1.0, "scores": 0.5, NASTY: 1.0}, {"global_step": 2.0, "scores": float("nan")}]
    land_run(home, "run-1", rows, arm=NASTY, log_id="log-1", unreadable=[("byte 5", NASTY)])
    declare(home, "metric_notes", f'scores,"{NASTY.replace(chr(34), chr(34) * 2)}",true\n')
    seamline("build", home=home)
    seamline("report", tmp_path / "page.html", home=home)
    html = (tmp_path / "page.html").read_text()
    assert "<script>alert" not in html and "<b>" not in html
    found = Page(html)
    scripts = [a for tag, a in found.elements if tag == "script"]
    assert len(scripts) == 3
    for section in ("arms", "quarantine", "caveats"):
        assert " ".join(NASTY.split()) in found.texts[section]
    held = payload(html)
    assert held["explorer"]["arms"] == [NASTY]
    (table,) = (t for t in held["tables"] if t["name"] == "arm_metrics")
    values = {(row[1], row[2]): row[3] for row in table["rows"]}
    assert values[1, NASTY] == 1.0 and values[2, "scores"] == "NaN"


def test_json_in_a_script_can_not_end_it():
    value = {"a</script>": ["<!--", "&\u2028\u2029", None, 1.5]}
    text = report.script_json(value)
    assert json.loads(text) == value
    assert not set("<>&\u2028\u2029") & set(text)


def test_a_campaign_without_tests_or_curves_says_so(home, tmp_path):
    with duckdb.connect() as warehouse:
        assert last_tests(Home(home), warehouse) is None
    done = seamline("report", tmp_path / "page.html", home=home, check=False)
    assert done.returncode == 1 and "nothing is built yet; run `seamline build`" in done.stderr
    assert list(tmp_path.glob("*.html*")) == []


def test_a_page_that_can_not_be_written_is_told(demo, tmp_path):
    (tmp_path / "file").write_text("mine")
    done = seamline("report", tmp_path / "file" / "page.html", home=demo, check=False)
    assert done.returncode == 1 and "can't be written" in done.stderr and "Traceback" not in done.stderr
    folder = tmp_path / "folder"
    folder.mkdir()
    done = seamline("report", folder, home=demo, check=False)
    assert done.returncode == 1 and "can't be written" in done.stderr
    assert [p.name for p in tmp_path.iterdir() if p.name.startswith(".")] == []
