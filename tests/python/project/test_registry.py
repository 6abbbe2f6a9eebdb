"""The registry of kinds against what it names: readers, options, landing tables, folders of marts, the README."""

import inspect
import re

import pytest

from homes.schema import landing_tables
from ingest.kind import Kind, load
from ingest.sources import KINDS, markdown_table
from tests.python.support.command import ROOT, query

SHARED = {"landed_sources", "quarantine"}


def test_the_readme_lists_the_kinds_as_they_are():
    text = (ROOT / "README.md").read_text()
    found = re.search(r"<!-- kinds: .*? -->\n(.*?)\n<!-- end of kinds -->", text, re.DOTALL)
    assert found and found[1] == markdown_table(), "run `python -m ingest.sources` and paste what it prints"


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_every_name_in_a_statement_leads_somewhere(kind: Kind):
    parameters = inspect.signature(load(kind.reader)).parameters
    assert next(iter(parameters)) == "home" and {option.argument for option in kind.options} <= set(parameters)
    for option in kind.options:
        assert parameters[option.argument].default in (option.default, False if option.default is None else None)
    assert kind.knows_file or kind.finds_places
    for name in (kind.knows_file, kind.finds_places, kind.is_part, kind.is_beside):
        assert name is None or callable(load(name))
    assert set(kind.domains) <= {folder.name for folder in (ROOT / "models" / "marts").iterdir()}


def test_every_landing_table_is_filled_by_a_kind():
    assert {table for kind in KINDS.values() for table in kind.tables} | SHARED == set(landing_tables())


def test_a_kind_fills_the_tables_that_it_states_and_no_others(demo):
    for table in set(landing_tables()) - SHARED:
        kinds = query(
            demo,
            f"select distinct kind from landing.landed_sources semi join landing.{table} using (source_name)",
        )
        assert {kind for (kind,) in kinds} <= {kind.name for kind in KINDS.values() if table in kind.tables}, table
