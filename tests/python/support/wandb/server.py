"""A loopback W&B server: answers what the real client (wandb-core included) asks to read runs, and fails to order.

Runs come from simulated `.wandb` logs, read by a reader of the tests' own. As on the real server one run has one
history, whose `_step` goes on counting where a run was resumed under its own id.
"""

import io
import json
import math
import re
import threading
import time
import traceback
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

ENTITY, PROJECT, API_KEY = "sim-lab", "sc3", "0123456789abcdef0123456789abcdef01234567"


@dataclass
class ServedRun:
    """One run. `rows` and `system` hold JSON values; the first `parquet_rows` rows are served as Parquet."""

    run_id: str
    display_name: str = ""
    group: str = ""
    state: str = "finished"
    config: dict = field(default_factory=dict)
    summary: dict = field(default_factory=dict)
    created_at: str = "2026-09-12T08:00:00Z"
    rows: list[dict] = field(default_factory=list)
    system: list[dict] = field(default_factory=list)
    parquet_rows: int = 0
    line_count: int | None = None
    """What the server says it holds, where that is not what it serves."""

    def node(self) -> dict:
        """The run as the API tells it."""
        return {
            "id": f"id-{self.run_id}",
            "projectId": 1,
            "name": self.run_id,
            "displayName": self.display_name,
            "state": self.state,
            "group": self.group or None,
            "jobType": None,
            "createdAt": self.created_at,
            "heartbeatAt": self.created_at,
            "config": json.dumps({key: {"value": value} for key, value in self.config.items()}),
            "summaryMetrics": json.dumps(self.summary),
            "systemMetrics": "{}",
            "historyLineCount": len(self.rows) if self.line_count is None else self.line_count,
            "historyKeys": {"lastStep": self.last_step, "keys": {}},
            "user": {"name": "Ada", "username": "ada"},
        }

    @property
    def last_step(self) -> int:
        return max((row["_step"] for row in self.rows), default=-1)


class WandbServer:
    """Serves runs on a port of this machine while the block lasts.

    `fail(operation, *faults)` queues one fault for each of the next requests of an operation (`parquet` for a
    download): an HTTP status, `cut` (before any answer), `cut_body` (in the middle of one), `graphql_error`,
    `slow:SECONDS`, or a function of the answer that returns another one. `seen` counts requests by operation.
    """

    def __init__(self, runs: list[ServedRun]) -> None:
        self.runs = {run.run_id: run for run in runs}
        self.seen: Counter[str] = Counter()
        self.keys_seen: set[str] = set()
        self._faults: dict[str, list] = defaultdict(list)
        self._lock = threading.Lock()

    def fail(self, operation: str, *faults: object) -> None:
        self._faults[operation] += faults

    def __enter__(self) -> "WandbServer":
        server = self

        class Handler(_Handler):
            wandb = server

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}"
        threading.Thread(target=self._http.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *failure: object) -> None:
        self._http.shutdown()
        self._http.server_close()

    def environment(self, folder: Path) -> dict[str, str]:
        """The environment in which the client talks to this server, and gives up soon."""
        return {
            "WANDB_BASE_URL": self.url,
            "WANDB_API_KEY": API_KEY,
            "HOME": str(folder),
            "WANDB__GRAPHQL_RETRY_MAX": "3",
            "WANDB__GRAPHQL_RETRY_WAIT_MIN_SECONDS": "1",
            "WANDB__GRAPHQL_RETRY_WAIT_MAX_SECONDS": "1",
            "WANDB__FILE_TRANSFER_RETRY_MAX": "3",
            "WANDB__FILE_TRANSFER_RETRY_WAIT_MIN_SECONDS": "1",
            "WANDB__FILE_TRANSFER_RETRY_WAIT_MAX_SECONDS": "1",
        }

    def next_fault(self, operation: str) -> object:
        with self._lock:
            self.seen[operation] += 1
            return self._faults[operation].pop(0) if self._faults[operation] else None

    def answer(self, operation: str, query: str, given: dict) -> dict:
        """The `data` of a GraphQL operation."""
        if operation in ("Viewer", "GetDefaultEntity"):
            return {"viewer": {"id": "u1", "entity": ENTITY, "username": "ada"}}
        if given.get("entity", ENTITY) != ENTITY or given.get("project", PROJECT) != PROJECT:
            return {"project": None}
        if operation == "Runs":
            return {"project": {"internalId": 1, **self._listing(given)}}
        run = self.runs.get(given.get("runName") or given.get("run") or given.get("name"))
        if run is None:
            return {"project": {"run": None}}
        if operation in ("Run", "RunHistoryKeys"):
            return {"project": {"run": run.node()}}
        if operation == "RunParquetHistory":
            live = [{"_step": row["_step"]} for row in run.rows[run.parquet_rows :]]
            urls = [f"{self.url}/parquet/{run.run_id}?Signature=signed-url-secret"] if run.parquet_rows else []
            return {"project": {"run": {"parquetHistory": {"parquetUrls": urls, "liveData": live[:1]}}}}
        if operation == "HistoryPage":
            low, high = given["minStep"], given["maxStep"]
            page = [row for row in run.rows[run.parquet_rows :] if low <= row["_step"] < high]
            return {"project": {"run": {"history": [json.dumps(row) for row in page]}}}
        if operation == "RunFullHistory":
            return {"project": {"run": {"events": [json.dumps(row) for row in run.system[: given["samples"]]]}}}
        raise AssertionError(f"unknown operation {operation}: {query}")

    def _listing(self, given: dict) -> dict:
        found = [run for run in self.runs.values() if _matches(run.node(), json.loads(given.get("filters") or "{}"))]
        start = int(given.get("cursor") or 0)
        page = found[start : start + given["perPage"]]
        edges = [{"node": run.node(), "cursor": str(start + at + 1)} for at, run in enumerate(page)]
        info = {"hasNextPage": start + len(page) < len(found), "endCursor": None}
        return {"runCount": len(found), "runs": {"edges": edges, "pageInfo": info}}

    def parquet(self, run_id: str) -> bytes:
        """The rows that are no longer live, a column a key, null where a row has none."""
        run = self.runs[run_id]
        rows = [{key: _number(value) for key, value in row.items()} for row in run.rows[: run.parquet_rows]]
        names = sorted({key for row in rows for key in row})
        table = pa.table({name: pa.array([row.get(name) for row in rows]) for name in names})
        out = io.BytesIO()
        pq.write_table(table, out)
        return out.getvalue()


def _number(value: object) -> object:
    """What Parquet holds for a value that JSON spells: numbers with NaN and infinities among them."""
    named = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
    return named.get(value, value) if isinstance(value, str) else value


def _matches(node: dict, condition: dict) -> bool:
    for key, wanted in condition.items():
        if key == "$and":
            if not all(_matches(node, part) for part in wanted):
                return False
        elif isinstance(wanted, dict):
            if "$in" in wanted and node[key] not in wanted["$in"]:
                return False
            if "$gte" in wanted and node[key] < wanted["$gte"]:
                return False
        elif node[key] != wanted:
            return False
    return True


class _Handler(BaseHTTPRequestHandler):
    wandb: WandbServer
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.wandb.keys_seen.add(self.headers.get("Authorization", ""))
        operation = re.search(r"(?:query|mutation)\s+(\w+)", asked["query"])
        name = operation.group(1) if operation else asked["query"]

        def answer() -> bytes:
            return json.dumps({"data": self.wandb.answer(name, asked["query"], asked.get("variables") or {})}).encode()

        self._reply(name, answer)

    def do_GET(self) -> None:
        self._reply("parquet", lambda: self.wandb.parquet(self.path.split("?")[0].removeprefix("/parquet/")))

    def _reply(self, operation: str, answer: Callable[[], bytes]) -> None:
        fault = self.wandb.next_fault(operation)
        if fault == "cut":
            self.close_connection = True
            return
        status, body = 200, b""
        if isinstance(fault, int):
            status, body = fault, json.dumps({"errors": [{"message": f"injected {fault}"}]}).encode()
        elif fault == "graphql_error":
            body = json.dumps({"errors": [{"message": "injected error"}], "data": None}).encode()
        else:
            if isinstance(fault, str) and fault.startswith("slow:"):
                time.sleep(float(fault.removeprefix("slow:")))
            try:
                body = answer()
            except Exception:
                traceback.print_exc()
                raise
            if callable(fault):
                body = fault(body)
        self.send_response(status)
        if status == 429:
            self.send_header("Retry-After", "1")
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if fault == "cut_body":
            self.wfile.write(body[: len(body) // 2])
            self.wfile.flush()
            self.close_connection = True
            return
        try:
            self.wfile.write(body)
        except OSError:
            self.close_connection = True  # the client gave up waiting

    def log_message(self, *arguments: object) -> None:
        pass
