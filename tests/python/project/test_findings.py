"""Kinds of findings, their page and their remedies hold together."""

import re

import pytest

from homes.schema import declared_tables
from tests.python.support.command import ROOT, query
from tests.python.support.remedies import lines_to_paste

MODELS = sorted((ROOT / "models" / "marts").rglob("*_findings.sql"))
PAGE = (ROOT / "docs" / "findings.md").read_text()
SECTIONS = dict(re.findall(r"^### (\w+)\n(.*?)(?=^##|\Z)", PAGE, re.MULTILINE | re.DOTALL))
REMEDY = re.compile(r"declared/\w+\.csv: .+|seamline ingest \w.*|docs/findings\.md#(\w+)", re.DOTALL)


def kinds_of(sql: str) -> set[str]:
    """What a model of findings selects as kind: the first column of each branch of its union."""
    firsts = re.findall(r"\bselect(?: distinct)?\s+([^\n]+)", sql)
    return {kind for first in firsts for kind in re.findall(r"(?:^|then |else )'(\w+)'", first)}


KINDS = {kind for path in MODELS for kind in kinds_of(path.read_text())}


def test_every_kind_is_on_the_page_once_and_no_other():
    assert sorted(re.findall(r"^### (.+)", PAGE, re.MULTILINE)) == sorted(KINDS)


@pytest.mark.parametrize("kind", SECTIONS)
def test_a_kind_is_described_in_four_lines(kind):
    """What was seen, what it means, what to do, an example."""
    assert re.findall(r"^- (\w+): \S", SECTIONS[kind], re.MULTILINE) == ["Seen", "Means", "Do", "Example"]


def test_a_model_names_the_page_of_its_own_kinds():
    for path in MODELS:
        sql = path.read_text()
        assert set(re.findall(r"findings_page\('(\w+)'\)", sql)) <= kinds_of(sql), path


def test_an_example_of_a_line_has_the_columns_of_its_file():
    examples = re.findall(r"^- Example: `(declared/.+)`$", PAGE, re.MULTILINE)
    assert len(examples) > 10
    for name, cells in (line for example in examples for line in lines_to_paste(example)):
        assert len(cells) == len(declared_tables()[name].schema.names), (name, cells)


def test_every_finding_of_a_demo_has_a_remedy(demo):
    rows = query(demo, "select kind, remedy from findings")
    assert {kind for kind, _ in rows} <= KINDS
    for kind, remedy in rows:
        found = REMEDY.fullmatch(remedy)
        assert found and found[1] in (None, kind), (kind, remedy)
        for name, cells in lines_to_paste(remedy):
            assert len(cells) == len(declared_tables()[name].schema.names)


def test_columns_of_a_template_are_those_of_its_yaml():
    """A line is offered in the order of the YAML, and pasted below the template's header."""
    for name, table in declared_tables().items():
        header = (ROOT / "seeds" / f"{name}.csv").read_text().splitlines()[0]
        assert header.split(",") == table.schema.names
