"""docs/add-a-producer.md and docs/add-a-mart.md, followed to the letter in a copy of the project."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.python.support.command import ROOT

BLOCK = re.compile(r"`([\w/.-]+)`:\n\n```[\w+]*\n(.*?)```", re.DOTALL)
"""A file that a page makes or adds to, and the text."""
LEFT_OUT = (".venv", ".git", "home", "target", "logs", "__pycache__", ".*_cache")


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    return shutil.copytree(ROOT, tmp_path / "copy", ignore=shutil.ignore_patterns(*LEFT_OUT))


def run(copy: Path, home: Path, *command: object) -> str:
    environment = os.environ | {"PYTHONPATH": str(copy), "SEAMLINE_HOME": str(home)}
    environment |= {"DBT_TARGET_PATH": str(copy / "target"), "DBT_LOG_PATH": str(copy / "logs")}
    done = subprocess.run(list(map(str, command)), cwd=copy, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_a_producer_is_its_folder_a_line_and_a_sample(copy, home):
    page = (ROOT / "docs" / "add-a-producer.md").read_text()
    files = dict(BLOCK.findall(page))
    imported, _, listed = files.pop("ingest/sources.py").partition("\n\n")
    for place, text in files.items():
        (copy / place).parent.mkdir(parents=True, exist_ok=True)
        (copy / place).write_text(text)
    registry = copy / "ingest" / "sources.py"
    after_kind, before_kinds = "from ingest.kind import Kind\n", "    for kind in (\n"
    sources = registry.read_text().replace(after_kind, f"{after_kind}{imported}\n")
    registry.write_text(sources.replace(before_kinds, before_kinds + listed))
    python = sys.executable
    run(copy, home, python, "-m", "ruff", "check", "ingest", "tests/python/ingest")
    run(copy, home, python, "-m", "ruff", "format", "--check", "ingest/longcsv", "tests/python/ingest/test_longcsv.py")
    assert "2 passed" in run(copy, home, python, "-m", "pytest", "tests/python/ingest/test_longcsv.py")
    assert "longcsv: 1 landed" in run(copy, home, python, "-m", "seamline", "ingest", "tests/data/longcsv")
    assert "| `seamline ingest longcsv" in run(copy, home, python, "-m", "ingest.sources")


def test_a_mart_is_a_model_its_contract_and_tests(copy, demo, tmp_path):
    home = shutil.copytree(demo, tmp_path / "demo")
    for place, text in BLOCK.findall((ROOT / "docs" / "add-a-mart.md").read_text()):
        before = (copy / place).read_text() if (copy / place).exists() else ""
        after = before.replace("vars:\n", f"vars:\n{text}") if place == "dbt_project.yml" else before + text
        (copy / place).write_text(after)
    tools = Path(sys.executable).parent
    told = run(copy, home, tools / "dbt", "build", "--select", "step_pauses")
    assert "PASS=8 WARN=0 ERROR=0" in told  # the model, its three tests, four hooks
    run(copy, home, tools / "sqlfluff", "lint", "models/marts/audit/step_pauses.sql", "tests/audit")
    model = copy / "models" / "marts" / "audit" / "step_pauses.sql"
    model.write_text(model.read_text().replace("> {{ var", ">= {{ var"))
    with pytest.raises(AssertionError, match="FAIL 1 step_pauses::a_step_that_waited"):
        run(copy, home, tools / "dbt", "build", "--select", "step_pauses")
