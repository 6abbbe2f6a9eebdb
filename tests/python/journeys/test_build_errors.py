"""What happens to a home when others use it at the same time, or a build is killed."""

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import duckdb
import pytest

from homes.lock import open_home
from homes.warehouse import connect, open_warehouse
from tests.python.support.command import ROOT, query, seamline
from tests.python.support.planted import land_run

HOLD = "import duckdb, sys; c = duckdb.connect(sys.argv[1], read_only=True); print('open', flush=True); input()"


def test_a_warehouse_held_open_is_told_with_the_process_that_holds_it(home):
    with open_home(home) as opened:
        duckdb.connect(str(opened.warehouse)).close()
    command = [sys.executable, "-c", HOLD, str(home / "warehouse.duckdb")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout.readline() == "open\n"
        done = seamline("build", home=home, check=False)
        holder.communicate("\n")
    assert done.returncode == 1
    assert f"warehouse.duckdb: held open by process {holder.pid} (" in done.stderr
    assert "close its connection, then try again" in done.stderr and "Traceback" not in done.stderr


def test_duckdb_draws_nothing_between_the_results(home):
    setting = "select current_setting('enable_progress_bar')"
    with open_home(home) as opened:
        connect(opened, read_only=False).close()
        with open_warehouse(opened) as warehouse:
            assert warehouse.execute(setting).fetchone() == (False,)
    environment = os.environ | {"SEAMLINE_HOME": str(home), "DBT_TARGET_PATH": str(home / "target")}
    command = [Path(sys.executable).parent / "dbt", "--quiet", "show", "--output", "json", "--inline", setting]
    shown = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    assert "false" in shown.stdout.lower() and "true" not in shown.stdout.lower()


def test_a_file_that_is_no_warehouse_is_told_and_left_alone(home):
    with open_home(home) as opened:
        opened.warehouse.write_text("not a database\n" * 1000)
    for command in (["build"], ["export", home.parent / "out"]):
        done = seamline(*command, home=home, check=False)
        assert done.returncode == 1
        assert "can't be opened" in done.stderr and "move it away and build again" in done.stderr
    assert (home / "warehouse.duckdb").read_text().startswith("not a database")


def test_two_commands_at_once_are_kept_apart_but_status_may_look(home):
    with open_home(home):
        done = seamline("init", home=home, check=False)
        assert done.returncode == 1
        assert f"another seamline command (process {os.getpid()}) is using this home" in done.stderr
        assert seamline("status", home=home).returncode == 0
    assert seamline("init", home=home).returncode == 0


def test_a_home_that_can_not_be_made_is_told(tmp_path):
    (tmp_path / "file").write_text("")
    done = seamline("init", "--home", tmp_path / "file" / "home", check=False)
    assert done.returncode == 1 and "can't be used as a home" in done.stderr and "Traceback" not in done.stderr


@pytest.fixture
def landed(home: Path) -> Path:
    first = [{"global_step": 10.0 * i, "scores": i / 7, "odd": float("nan")} for i in range(200)]
    again = [{"global_step": 10.0 * i + 1, "scores": i / 3} for i in range(150, 300)]
    for arm in range(5):
        land_run(home, f"first-{arm}", first, arm=f"arm-{arm}")
        land_run(home, f"again-{arm}", again, arm=f"arm-{arm}", hour=9)
    return home


def test_a_build_killed_at_any_moment_and_run_again_gives_the_same_tables(landed):
    disturbed = landed.with_name("disturbed")
    shutil.copytree(landed, disturbed)
    began = time.monotonic()
    seamline("build", home=landed)
    took = time.monotonic() - began
    for share in random.Random(7).sample(range(30, 100), 2):
        environment = os.environ | {"SEAMLINE_HOME": str(disturbed)}
        build = subprocess.Popen(
            [sys.executable, "-m", "seamline", "build"], cwd=ROOT, env=environment, stdout=subprocess.DEVNULL
        )
        time.sleep(took * share / 100)
        build.send_signal(signal.SIGKILL)
        build.wait()
    seamline("build", home=disturbed)
    assert tables(disturbed) == tables(landed)


def tables(home: Path) -> dict[str, list[str]]:
    """Every mart's rows, in an order of their own."""
    names = query(home, "select table_name from duckdb_tables() where schema_name = 'main' order by all")
    assert ("arm_metrics",) in names
    return {name: query(home, f"select t::varchar from {name} as t order by all") for (name,) in names}
