"""A finding that offers lines of declared files goes once they are pasted and the home is built again."""

import shutil
from pathlib import Path

import pytest

from tests.python.support.command import query, seamline
from tests.python.support.remedies import lines_to_paste, paste, place

Finding = tuple[str, str]
"""(kind, subject)."""


@pytest.fixture(scope="module")
def home(demo: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the demo's home, for its declared files change."""
    home = tmp_path_factory.mktemp("remedies") / "home"
    return shutil.copytree(demo, home, ignore=shutil.ignore_patterns("demo", "exports", "target", "logs"))


def findings(home: Path) -> dict[Finding, str]:
    """Remedies by finding."""
    rows = query(home, "select kind, subject, remedy from findings order by kind, subject")
    return {(kind, subject): remedy for kind, subject, remedy in rows}


def paste_what_fits(declared: Path, offered: dict[Finding, str]) -> set[Finding]:
    """Paste all lines of each finding whose places no other finding has taken; returns those findings."""
    taken: dict[tuple[str, ...], list[str]] = {}
    pasted = set()
    for finding, remedy in offered.items():
        lines = {place(name, cells): cells for name, cells in lines_to_paste(remedy)}
        if all(taken.get(where, cells) == cells for where, cells in lines.items()):
            taken |= lines
            pasted.add(finding)
    for (name, *_), cells in taken.items():
        paste(declared, name, cells)
    return pasted


def test_a_finding_goes_when_its_lines_are_pasted(home: Path):
    at_first = {finding for finding, remedy in findings(home).items() if lines_to_paste(remedy)}
    assert {kind for kind, _ in at_first} == {
        *("arm_running", "concurrent_segments", "longer_lineage_not_chosen", "longer_rollout_lineage_not_chosen")
    }
    for _ in range(3):  # lines of one arm stand in one place: the next is offered after the first
        offered = {finding: remedy for finding, remedy in findings(home).items() if finding in at_first}
        if not offered:
            break
        pasted = paste_what_fits(home / "declared", offered)
        assert pasted
        seamline("build", home=home)
        assert pasted & findings(home).keys() == set()
    assert at_first & findings(home).keys() == set()
