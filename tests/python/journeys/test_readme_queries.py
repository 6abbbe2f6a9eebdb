"""The README's ten questions: every query runs on a demo and has an answer, some of them known beforehand."""

import csv
import json
import re

import pytest

from tests.python.support.command import ROOT, seamline

ASK = (ROOT / "README.md").read_text().partition("### Ask")[2].partition("\n## ")[0]
QUESTIONS = {
    question.strip(): sql.strip()
    for block in re.findall(r"```sql\n(.*?)```", ASK, re.DOTALL)
    for question, sql in re.findall(r"-- ([^\n]*\?)\n(.*?);", block, re.DOTALL)
}


def answer(demo, beginning: str) -> list[dict]:
    (sql,) = (sql for question, sql in QUESTIONS.items() if question.startswith(beginning))
    return json.loads(seamline("sql", sql, "--json", home=demo).stdout)


def test_there_are_ten():
    assert len(QUESTIONS) == 10


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_query_of_the_readme_has_an_answer(demo, question):
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
