"""Fixtures: a fresh home, the command line as a user runs it, a query of what dbt built."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "tests" / "data"


def seamline(*arguments: object, home: Path | None = None, check: bool = True) -> subprocess.CompletedProcess:
    """Run the command line in a process of its own; the result has stdout, stderr and returncode."""
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    if home:
        environment["SEAMLINE_HOME"] = str(home)
    done = subprocess.run(
        [sys.executable, "-m", "seamline", *map(str, arguments)], env=environment, capture_output=True, text=True
    )
    if check and done.returncode:
        raise AssertionError(f"seamline {arguments} exited {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done


def query(home: Path, sql: str) -> list[tuple]:
    """Rows of a query over the home's warehouse."""
    with duckdb.connect(str(home / "warehouse.duckdb"), read_only=True) as warehouse:
        return warehouse.execute(sql).fetchall()


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


BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


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
    from tests.python.models import Models

    marts = ["arm_turns", "turn_findings", "malformed_tool_calls", "turn_reconciliation", "runs"]
    return Models(tmp_path_factory.mktemp("turns"), marts)
