"""Runs read over the W&B API by the real client, from a server on this machine that fails to order."""

import json
import os
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.python.support.command import query, seamline
from tests.python.support.wandb.server import API_KEY, ServedRun, WandbServer


def run(run_id: str, count: int, first: int = 0, parquet_rows: int = 0, **more: object) -> ServedRun:
    """A run whose metric `x` is half its step."""
    rows = [{"_step": n, "_timestamp": 1_789_200_000 + n, "x": n / 2} for n in range(first, first + count)]
    return ServedRun(run_id, f"{run_id}__1__1789200000", rows=rows, parquet_rows=parquet_rows, **more)


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """Serve runs, and point the client at them."""
    servers = []

    def start(*runs: ServedRun) -> WandbServer:
        server = WandbServer(list(runs)).__enter__()
        servers.append(server)
        for name, value in server.environment(tmp_path).items():
            monkeypatch.setenv(name, value)
        return server

    yield start
    for server in servers:
        server.__exit__()


def ingest(home: Path, *arguments: str, check: bool = True):
    target = [] if arguments and arguments[0].startswith("sim-lab") else ["sim-lab/sc3"]
    return seamline("ingest", "wandb", *target, *arguments, home=home, check=check)


def landed(home: Path, table: str) -> list[dict]:
    files = sorted((home / "landing" / table).glob("*.parquet"))
    return [row for file in files for row in pq.read_table(file, partitioning=None).to_pylist()]


def history(home: Path) -> dict[str, list[tuple]]:
    """(row, metric, value, text) of every item of every run."""
    names = {row["source_name"]: row["run_id"] for row in landed(home, "history_logs")}
    found: dict[str, list[tuple]] = {run_id: [] for run_id in names.values()}
    for row in landed(home, "history_values"):
        found[names[row["source_name"]]].append((row["row_idx"], row["metric"], row["value"], row["value_text"]))
    return {run_id: sorted(rows, key=str) for run_id, rows in found.items()}


def xs(home: Path) -> dict[str, list[float]]:
    return {r: [v for _, m, v, _ in sorted(rows) if m == "x"] for r, rows in history(home).items()}


def test_every_kind_of_value_lands_and_a_rerun_reads_only_what_changed(serve, home):
    odd = ServedRun(
        "odd",
        "odd__1__1789200000",
        group="g1",
        state="running",
        config={"exp_name": "odd", "nested": {"a": 1}, "home": "/data"},
        summary={"best": 0.5},
        rows=[
            {"_step": 7, "nan": "NaN", "up": "Infinity", "d": {"k": 1.5}, "t": "text", "big": 2**60, "no": None},
            {"_step": 8, "nan": 2.5, "h": {"_type": "histogram", "bins": [0, 1], "values": [3]}},
            {"_step": 9, "nan": 3.5, "only": True},
        ],
        system=[{"system.cpu": 12.5, "system.gpu.0.gpu": 90, "_timestamp": 1_789_200_001, "_wandb": True}],
        created_at="2026-10-01T00:00:00Z",
    )
    # The first row comes as Parquet, which has every key of the run, the others live, which have their own.
    packed = ServedRun("packed", rows=[dict(row) for row in odd.rows], parquet_rows=1)
    packed.rows[0] = {"_step": 7, "nan": "NaN", "up": "Infinity", "d": {"k": 1.5}, "t": "text", "only": None}
    server = serve(odd, packed, run("plain", 3))
    done = ingest(home)
    assert "3 landed, 0 unchanged" in done.stdout
    by_run = history(home)
    histogram = '{"_type": "histogram", "bins": [0, 1], "values": [3]}'
    expected = [
        (0, "_step", 7.0, None),
        (0, "big", float(2**60), str(2**60)),
        (0, "d.k", 1.5, None),
        (0, "nan", float("nan"), None),
        (0, "t", None, '"text"'),
        (0, "up", float("inf"), None),
        (1, "_step", 8.0, None),
        (1, "h", None, histogram),
        (1, "nan", 2.5, None),
        (2, "_step", 9.0, None),
        (2, "nan", 3.5, None),
        (2, "only", None, "true"),
    ]
    told = [(r, m, v, json.dumps(json.loads(t), sort_keys=True) if t else t) for r, m, v, t in by_run["odd"]]
    assert repr(told) == repr(expected)
    assert repr([item for item in told if item[1] != "big"]) == repr(
        [(r, m, v, json.dumps(json.loads(t), sort_keys=True) if t else t) for r, m, v, t in by_run["packed"]]
    )
    samples = [(row["metric"], row["value"]) for row in landed(home, "history_system_values")]
    assert sorted(samples) == [("cpu", 12.5), ("gpu.0.gpu", 90.0)]
    assert {(r["config_key"], r["value_json"]) for r in landed(home, "history_config")} == {
        ("exp_name", '"odd"'),
        ("nested.a", "1"),
        ("home", '"/data"'),
    }
    server.seen.clear()
    assert "0 landed, 3 unchanged" in ingest(home).stdout
    assert server.seen["Run"] == server.seen["HistoryPage"] == 0
    odd.rows.append({"_step": 10, "nan": 1.0})
    server.runs["plain"].state = "crashed"
    assert "1 landed, 0 unchanged" in ingest(home, "--group", "g1").stdout
    assert "1 landed, 1 unchanged" in ingest(home, "--run", "plain", "--run", "odd").stdout
    assert "0 landed, 1 unchanged" in ingest(home, "--since", "2026-09-20").stdout
    assert "0 landed, 1 unchanged" in ingest(home, "sim-lab/sc3/plain").stdout
    assert len(landed(home, "history_logs")) == 3


def test_passing_failures_end_in_success(serve, home):
    server = serve(run("a", 5, parquet_rows=3), run("b", 4))
    server.fail("Runs", 500)
    server.fail("Run", "cut")
    server.fail("HistoryPage", 429)
    server.fail("RunParquetHistory", 503)
    server.fail("parquet", 500)
    server.fail("RunFullHistory", "slow:1")
    assert "2 landed" in ingest(home).stdout
    assert xs(home) == {"a": [0, 0.5, 1, 1.5, 2], "b": [0, 0.5, 1, 1.5]}


@pytest.mark.parametrize(
    ("operation", "fault", "says"),
    [
        ("Runs", 401, "wandb login"),
        ("HistoryPage", "graphql_error", "injected error"),
        ("parquet", "cut_body", "run the command again"),
        ("HistoryPage", "slow:6", "--timeout"),
    ],
)
def test_lasting_failures_say_what_to_do_and_a_rerun_completes(serve, home, operation, fault, says):
    server = serve(run("a", 5, parquet_rows=3), run("b", 4))
    server.fail(operation, *[fault] * (6 if isinstance(fault, int) else 1))
    done = ingest(home, "--timeout", "2", check=False)
    assert done.returncode == 1 and says in done.stderr and done.stderr.count("error:") == 1
    assert "Traceback" not in done.stderr
    server._faults.clear()
    ingest(home)
    assert xs(home) == {"a": [0, 0.5, 1, 1.5, 2], "b": [0, 0.5, 1, 1.5]}
    secrets = [API_KEY.encode(), b"signed-url-secret"]
    files = [path for path in home.rglob("*") if path.is_file()]
    assert not any(secret in path.read_bytes() for path in files for secret in secrets)
    assert not any(secret.decode() in done.stdout + done.stderr for secret in secrets)


def test_who_is_not_logged_in_is_told_so_and_not_asked(serve, home, monkeypatch):
    serve(run("a", 1))
    monkeypatch.delenv("WANDB_API_KEY")
    done = ingest(home, check=False)
    assert done.returncode == 1 and "wandb login" in done.stderr


def test_a_project_or_run_that_is_not_there(serve, home):
    serve(run("a", 1))
    for target in ("sim-lab/nothing", "sim-lab/sc3/nothing"):
        done = seamline("ingest", "wandb", target, home=home, check=False)
        assert done.returncode == 1 and target in done.stderr and "check the name" in done.stderr
    (Path(os.environ["HOME"]) / "sim-lab" / "sc3").mkdir(parents=True)
    monkey = str(Path(os.environ["HOME"]) / "sim-lab" / "sc3")
    done = seamline("ingest", "wandb", monkey, home=home, check=False)
    assert "nothing to ingest" in done.stderr  # an existing path is never taken for a project


def test_what_came_is_held_against_what_the_server_counts(serve, home):
    server = serve(
        run("whole", 4, first=100),
        run("short", 6),
        run("twice", 4),
        run("again", 4),
        run("grows", 4, state="running"),
        run("goes", 4),
        run("empty", 0),
    )

    def page(change):
        def changed(body: bytes) -> bytes:
            answer = json.loads(body)
            rows = answer["data"]["project"]["run"]["history"]
            answer["data"]["project"]["run"]["history"] = change(rows)
            return json.dumps(answer).encode()

        return changed

    ingest(home, "--run", "whole", "--run", "goes", "--run", "empty")
    server.fail("HistoryPage", page(lambda rows: rows[:2] + rows[4:]))
    assert "4 of 6 history rows came" in ingest(home, "--run", "short").stderr
    server.fail("HistoryPage", page(lambda rows: rows + rows[1:3]))
    ingest(home, "--run", "twice")
    server.fail("HistoryPage", page(lambda rows: [*rows, json.dumps({"_step": 2, "x": 9.0})]))
    ingest(home, "--run", "again")

    def grow(body: bytes) -> bytes:
        server.runs["grows"].rows.append({"_step": 4, "x": 2.0})
        return body

    server.fail("RunFullHistory", grow)
    ingest(home, "--run", "grows")
    seamline("build", home=home)
    columns = "missing_row_count, surplus_row_count, duplicate_row_count, repeated_step_row_count, is_complete"
    told = query(home, f"select run_id, row_count, {columns}, is_deleted from history_completeness order by run_id")
    assert told == [
        ("again", 5, 0, 1, 0, 1, True, False),
        ("empty", 0, 0, 0, 0, 0, True, False),
        ("goes", 4, 0, 0, 0, 0, True, False),
        ("grows", 4, 0, 0, 0, 0, True, False),
        ("short", 4, 2, 0, 0, 0, False, False),
        ("twice", 4, 0, 0, 2, 0, True, False),
        ("whole", 4, 0, 0, 0, 0, True, False),
    ]
    del server.runs["goes"]
    done = ingest(home)
    assert "2 landed, 4 unchanged" in done.stdout and "sim-lab/sc3/goes: gone from W&B" in done.stderr
    assert xs(home)["grows"] == [0, 0.5, 1, 1.5, 2] and xs(home)["short"] == [0, 0.5, 1, 1.5, 2, 2.5]
    seamline("build", home=home)
    told = query(home, "select kind, subject from findings where subject like 'sim-lab/%' order by all")
    assert told == [
        ("duplicate_api_rows", "sim-lab/sc3/twice"),
        ("history_longer_than_counted", "sim-lab/sc3/again"),
        ("repeated_api_steps", "sim-lab/sc3/again"),
        ("run_deleted_upstream", "sim-lab/sc3/goes"),
    ]
    assert query(home, "select row_count, is_deleted from history_completeness where run_id = 'goes'") == [(4, True)]
    assert "gone" not in ingest(home).stderr
