"""Domains without evidence: their marts would be empty, so `seamline build` makes empty tables of them at once."""

import re
from pathlib import Path

import pytest

from ingest.sources import KINDS
from tests.python.support.command import ROOT, query, seamline
from tests.python.support.models import MARTS, Models
from warehouse.build import DOMAINS, Domain


@pytest.fixture(scope="module")
def every_mart(tmp_path_factory: pytest.TempPathFactory) -> Models:
    return Models(tmp_path_factory.mktemp("idle") / "home", sorted(MARTS))


def kinds_of(domain: Domain) -> set[str]:
    return {kind.name for kind in KINDS.values() if not set(domain.marts).isdisjoint(kind.domains)}


@pytest.mark.parametrize("domain", DOMAINS, ids=lambda domain: domain.marts[0])
def test_marts_of_an_idle_domain_have_no_rows(demo, every_mart, domain):
    """The whole campaign is landed and declared, but for what makes this domain idle."""
    every_mart.load(demo, without_kinds=kinds_of(domain), without_declared=domain.declared)
    counts = {mart: every_mart.rows(f'select count(*) from "{mart}"')[0][0] for mart in MARTS}
    assert {mart for mart, folder in MARTS.items() if folder in domain.marts and counts[mart]} == set()
    others = {folder for mart, folder in MARTS.items() if counts[mart]}
    assert others >= {"audit", *(mart for other in DOMAINS if other != domain for mart in other.marts)}


def test_facts_that_can_be_a_finding_by_themselves_keep_a_domain_awake():
    for path in (ROOT / "models" / "marts").rglob("*_findings.sql"):
        text = path.read_text()
        declared = set(re.findall(r"source\('declared', '(\w+)'\)", text))
        if "arms_line(" in text:
            declared.discard("arms")  # the remedy repeats the arm's line
        (known,) = [set(d.declared) for d in DOMAINS if MARTS[path.stem] in d.marts] or [declared]
        assert declared <= known, path.name


def test_every_domain_and_kind_is_known(demo):
    assert {mart for domain in DOMAINS for mart in domain.marts} | {"audit"} == set(MARTS.values())
    kinds = {kind for (kind,) in query(demo, "select distinct kind from landing.landed_sources")}
    assert kinds <= {kind for domain in DOMAINS for kind in kinds_of(domain)}


def test_an_idle_domain_has_empty_tables_and_the_build_counts_as_whole(home: Path):
    seamline("init", home=home)
    log = next(path for path in sorted((ROOT / "tests" / "data").rglob("*.wandb")) if path.stat().st_size < 200_000)
    seamline("ingest", "wandb", log, home=home)
    built = seamline("build", home=home).stdout
    assert built.rstrip().endswith("; no evidence of turns, rounds, teacher, checkpoints")
    assert query(home, "select count(*) from logs") == [(1,)]
    for mart, folder in MARTS.items():
        if folder not in ("curves", "audit"):
            assert query(home, f'select count(*) from "{mart}"') == [(0,)]
    assert query(home, "describe teacher_costs") and "never" not in seamline("status", home=home).stdout
    (ended,) = query(home, "select ended_at is not null from builds.builds")
    assert ended == (True,)
    out = home.parent / "out"
    seamline("export", out, "--no-figures", home=home)
    assert (out / "arms.csv").exists() and not (out / "tables").exists()
