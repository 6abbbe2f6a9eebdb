"""Queries on the pages of the documentation: each runs on a demo, and the ten questions have answers, some known."""

import csv
import json
import re

import pytest

from tests.python.support.command import ROOT, query, seamline

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
ASK = (ROOT / "docs" / "ask.md").read_text()
QUESTIONS = {
    question.strip(): sql.strip()
    for block in re.findall(r"```sql\n(.*?)```", ASK, re.DOTALL)
    for question, sql in re.findall(r"-- ([^\n]*\?)\n(.*?);", block, re.DOTALL)
}


def queries() -> list[tuple[str, str]]:
    """(page, query) of each block of SQL, `seamline sql` and query within a line."""
    found = []
    for page in PAGES:
        text = page.read_text()
        told = [sql for block in re.findall(r"```sql\n(.*?)```", text, re.DOTALL) for sql in block.split(";")]
        told += re.findall(r'seamline sql "(.*?)"', text) + re.findall(r"`(select [^`]+)`", text)
        if page.name != "add-a-mart.md":  # its SQL is a model, which test_toys follows
            found += [(page.name, sql.strip()) for sql in told if sql.strip() and "{{" not in sql]
    return found


def answer(demo, beginning: str) -> list[dict]:
    (sql,) = (sql for question, sql in QUESTIONS.items() if question.startswith(beginning))
    return json.loads(seamline("sql", sql, "--json", home=demo).stdout)


def test_there_are_ten():
    assert len(QUESTIONS) == 10


@pytest.mark.parametrize(("page", "sql"), queries())
def test_a_documented_query_runs(demo, page, sql):
    query(demo, sql)


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_question_has_an_answer(demo, question):
    assert answer(demo, question)


def test_the_curve_asked_for_is_the_one_planted(demo):
    with open(demo / "demo" / "truth" / "curves.csv", newline="") as handle:
        planted = [
            (int(row["training_step"]), float(row["value"]))
            for row in csv.DictReader(handle)
            if row["arm"] == "prefilter-4b" and row["metric"] == "scores"
        ]
    assert [(r["training_step"], r["value"]) for r in answer(demo, "What is the curve")] == sorted(planted) != []


def test_every_dropped_row_is_explained(demo):
    rows = answer(demo, "Why was a row dropped")
    overruled = [row for row in rows if row["drop_reason"] in ("rolled_back", "seam_collapsed")]
    assert overruled and all(row["superseded_by_run_id"] for row in overruled)


def test_costs_are_in_order_and_positive(demo):
    costs = [row["cost_per_point"] for row in answer(demo, "Which checkpoints gain most")]
    assert costs == sorted(costs) and costs[0] > 0
