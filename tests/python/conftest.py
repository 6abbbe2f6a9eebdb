"""Fixtures: a fresh home, a demo's home, the models of turns compiled once."""

from pathlib import Path

import pytest

from tests.python.support.command import BROWSER, seamline


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The home of a demo: a small campaign with every kind of evidence, built and exported."""
    home = tmp_path_factory.mktemp("demo") / "home"
    done = seamline("demo", home=home)
    assert done.stdout.splitlines()[-1].startswith(f"look at {home / 'exports' / 'INDEX.md'}")
    return home


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say loudly that nothing was tried in a browser: a skip in a long list is easily missed."""
    skipped = [report for report in terminalreporter.stats.get("skipped", []) if "test_report_browser" in report.nodeid]
    if skipped and not BROWSER:
        terminalreporter.write_line(
            f"NO CHROMIUM ON THIS MACHINE: {len(skipped)} tests of the report in a browser were skipped "
            "(Debian: apt-get install chromium)",
            red=True,
            bold=True,
        )


@pytest.fixture(scope="session")
def turn_models(tmp_path_factory: pytest.TempPathFactory):
    """The models from landed rollouts to turns, compiled once for every test of them."""
    from tests.python.support.models import Models

    marts = ["arm_turns", "rollout_findings", "turn_findings", "malformed_tool_calls", "turn_reconciliation", "runs"]
    marts += ["rollout_run_counts", "rollout_totals", "zero_run_calibration"]
    return Models(tmp_path_factory.mktemp("turns"), marts)
