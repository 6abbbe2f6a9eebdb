"""The command line as a user runs it, queries of what dbt built, and where things lie."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import duckdb

ROOT = Path(__file__).resolve().parents[3]
DATA = ROOT / "tests" / "data"
BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


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
