"""The command line as such: what it loads, how it exits, when it draws."""

import os
import pty
import signal
import subprocess
import sys
import time

import pytest

from tests.python.support.command import ROOT, seamline

HEAVY = [
    "duckdb",
    "pyarrow",
    "dbt",
    "wandb",
    "numpy",
    "pandas",
    "polars",
    "simdjson",
    "ptars",
    "huggingface_hub",
    "rich",
]


def test_help_loads_nothing_heavy():
    program = f"""
import sys
sys.argv = ["seamline", "--help"]
import seamline
try:
    seamline.main()
except SystemExit as ended:
    assert not ended.code, ended.code
print("loaded", sorted(set({HEAVY}) & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert "Usage: seamline" in done.stdout
    assert done.stdout.splitlines()[-1] == "loaded []"


@pytest.mark.parametrize("wrong", [["bild"], ["export"], ["status", "--jason"], ["ingest"], ["simulate"], []])
def test_wrong_usage_exits_2(home, wrong):
    done = seamline(*wrong, home=home, check=False)
    assert done.returncode == 2 and "Traceback" not in done.stderr
    assert not home.exists()


def test_arguments_that_dbt_does_not_know_are_wrong_usage(home):
    done = seamline("build", "--bogus", home=home, check=False)
    assert done.returncode == 2 and "--bogus" in done.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize("asked", ["-h", "--version"])
def test_what_dbt_answers_without_building_is_no_crash(home, asked):
    done = seamline("build", asked, home=home, check=False)
    assert done.returncode == 0 and "Traceback" not in done.stderr
    assert done.stdout.splitlines()[-1] == f"{home}: nothing was built"


BAR = "from homes.console import progress; print(list(progress(range(3), 'landing')))"


def test_progress_is_drawn_on_a_terminal_only():
    command = [sys.executable, "-c", BAR]
    piped = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert (piped.stdout, piped.stderr) == ("[0, 1, 2]\n", "")
    ours, theirs = pty.openpty()
    drawn = subprocess.run(
        command,
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=theirs,
        text=True,
        check=True,
        env=os.environ | {"TERM": "xterm"},
    )
    os.close(theirs)
    assert drawn.stdout == "[0, 1, 2]\n"
    assert b"landing" in os.read(ours, 10_000)
    os.close(ours)


@pytest.mark.parametrize("delay", [0, 0.5, 1.5, 4])
def test_an_interrupt_ends_quietly(home, delay):
    build = subprocess.Popen(
        [sys.executable, "-m", "seamline", "build"],
        cwd=ROOT,
        env=os.environ | {"SEAMLINE_HOME": str(home)},
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a background shell has it ignored
    )
    while not (home / ".lock").exists():
        time.sleep(0.02)
    time.sleep(delay)
    build.send_signal(signal.SIGINT)
    stderr = build.communicate()[1]
    # A shell shows both as 130: that exit code, and death by the signal (Python, interrupted within an exec).
    assert build.returncode in (130, -signal.SIGINT) and stderr == ""


def test_a_reader_that_leaves_early_is_no_crash(home):
    environment = os.environ | {"SEAMLINE_HOME": str(home)}
    status = subprocess.Popen(
        [sys.executable, "-m", "seamline", "status"],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    status.stdout.close()
    stderr = status.stderr.read().decode()
    status.wait()
    assert "Traceback" not in stderr and "BrokenPipe" not in stderr


def test_what_the_system_refuses_is_told_without_a_traceback(home):
    home.mkdir()
    (home / "declared").write_text("a file where a folder belongs")
    done = seamline("init", home=home, check=False)
    assert done.returncode == 1
    assert done.stderr == f"error: {home / 'declared'}: File exists\n"
