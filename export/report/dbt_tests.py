"""What the tests of the last dbt command said, with the rows that made them warn or fail."""

import json

import duckdb

from export.report.tables import value_text
from homes.paths import Home

SHOWN_KEYS = 20
ORDER = {"error": 0, "fail": 1, "warn": 2, "skipped": 3, "pass": 4}


def last_tests(home: Home, warehouse: duckdb.DuckDBPyConnection) -> dict[str, object] | None:
    """`command`, `ended_at`, `counts` by status and `tests`: name, status, count, header comment, columns and rows.

    The worst come first. None where no result of a build or test is at hand (a build by hand keeps its own elsewhere).
    """
    path = home.path / "target" / "run_results.json"
    if not path.exists():
        return None
    results = json.loads(path.read_text(encoding="utf-8"))
    if results["args"].get("which") not in ("build", "test"):
        return None
    tests = [_test(result, warehouse) for result in results["results"] if result["unique_id"].startswith("test.")]
    counts: dict[str, int] = {}
    for test in tests:
        counts[str(test["status"])] = counts.get(str(test["status"]), 0) + 1
    return {
        "command": f"dbt {results['args']['which']}",
        "ended_at": results["metadata"]["generated_at"][:19].replace("T", " "),
        "counts": {status: counts[status] for status in sorted(counts, key=_rank)},
        "tests": sorted(tests, key=lambda test: (_rank(str(test["status"])), str(test["name"]))),
    }


def _rank(status: str) -> int:
    return ORDER.get(status, len(ORDER))


def _test(result: dict, warehouse: duckdb.DuckDBPyConnection) -> dict[str, object]:
    code = result.get("compiled_code") or ""
    comments = [line[2:].strip() for line in code.splitlines() if line.startswith("--")]
    test: dict[str, object] = {
        "name": result["unique_id"].split(".")[2],
        "status": result["status"],
        "failures": result.get("failures") or 0,
        "about": comments,
        "message": result.get("message") or "",
        "columns": [],
        "rows": [],
        "problem": "",
    }
    if test["failures"] and code:
        try:
            done = warehouse.execute(f"select * from ({code.rstrip().rstrip(';')}\n) limit {SHOWN_KEYS}")
            test["columns"] = [column[0] for column in done.description]
            test["rows"] = [[value_text(cell) for cell in row] for row in done.fetchall()]
        except duckdb.Error as error:
            test["problem"] = str(error).splitlines()[0]
    return test
