"""`seamline build`: dbt build for one home."""

import os
from collections.abc import Sequence
from contextlib import contextmanager

from ingest.landing import landed
from warehouse.connect import connect
from warehouse.console import counting, warn
from warehouse.declared import check_declared
from warehouse.errors import SeamlineError, UsageError
from warehouse.home import PROJECT, Home

KINDS = {
    "curves": {"wandb"},
    "turns": {"rollouts"},
    "rounds": {"rounds", "native-metrics"},
    "teacher": {"teacher-calls"},
    "checkpoints": {"checkpoints", "driver-usage", "scores"},
}
"""The kinds of source that fill each folder of marts."""


def build(home: Home, dbt_args: Sequence[str] = ()) -> str:
    """Run `dbt build` over the home; returns what came of it in a line.

    Without arguments every model is built, and those data tests run that have data to look at; unit tests are for those
    who change a model.

    Raises SeamlineError where declared facts, the warehouse or a test is at fault, UsageError for arguments that dbt
    does not know.
    """
    check_declared(home)
    connect(home, read_only=False).close()
    with _environment(home), counting("building", is_shown=not dbt_args) as count:
        from dbt.adapters.duckdb.connections import DuckDBConnectionManager
        from dbt.cli.exceptions import DbtUsageException
        from dbt.cli.main import dbtRunner

        def on_event(event) -> None:
            if event.info.name in ("LogModelResult", "LogTestResult"):
                count(getattr(event.data, "total", 0) or event.data.num_models)

        arguments = ["build", "--project-dir", str(PROJECT), "--profiles-dir", str(PROJECT), *dbt_args]
        if not dbt_args:
            arguments = ["--quiet", *arguments, "--exclude", "resource_type:unit_test", *_vacuous_tests(home)]
        try:
            result = dbtRunner(callbacks=[on_event]).invoke(arguments)
        finally:
            # dbt keeps the warehouse open, which would keep an export in this process out
            DuckDBConnectionManager.close_all_connections()
    if isinstance(result.exception, DbtUsageException):
        raise UsageError(f"dbt build: {result.exception}")
    if result.exception:
        raise SeamlineError(f"dbt could not run: {result.exception}")
    nodes = [r for r in result.result if r.node.resource_type in ("model", "test", "unit_test")]
    failed = [r.node.name for r in nodes if r.status in ("error", "fail")]
    if not result.success:
        raise SeamlineError(
            f"{len(failed)} dbt nodes failed ({', '.join(failed[:5])}{', ...' if len(failed) > 5 else ''}); "
            f"their messages stand above and in {home.path / 'logs' / 'dbt.log'}"
        )
    warnings = [r.node.name for r in nodes if r.status == "warn"]
    if warnings:
        warn(
            f"{len(warnings)} tests of the evidence warn ({', '.join(warnings)}); "
            "the mart `findings` says what was seen"
        )
    built, passed = (sum(r.status == status for r in nodes) for status in ("success", "pass"))
    return f"{home.warehouse}: {built} models built, {passed} tests pass, {len(warnings)} warn"


def _vacuous_tests(home: Home) -> list[str]:
    """Selectors of the data tests that would look at nothing: those of domains of which no source has landed."""
    landed_kinds = {source.kind for source in landed(home).values()}
    return [
        selector
        for domain, kinds in KINDS.items()
        if not kinds & landed_kinds
        for selector in (f"path:models/marts/{domain},resource_type:test", f"path:tests/{domain}")
    ]


@contextmanager
def _environment(home: Home):
    """dbt's settings for this home, in the environment while dbt runs."""
    wanted = {
        "SEAMLINE_HOME": str(home.path),
        "DBT_TARGET_PATH": str(home.path / "target"),
        "DBT_LOG_PATH": str(home.path / "logs"),
        # Debug lines take a tenth of a build. Whoever wants them sets the variable.
        "DBT_LOG_LEVEL_FILE": os.environ.get("DBT_LOG_LEVEL_FILE", "info"),
    }
    before = {name: os.environ.get(name) for name in wanted}
    os.environ.update(wanted)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
