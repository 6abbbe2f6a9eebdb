"""`seamline build`: dbt build for one home."""

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import NamedTuple

from homes.console import counting, warn
from homes.declared import check_declared, declared_rows
from homes.errors import SeamlineError, UsageError
from homes.landing import landed
from homes.outdated import check_current
from homes.paths import PROJECT, Home
from homes.spark import check_engine
from homes.warehouse import connect
from warehouse.parsed import keep_parsed, parsed_file, read_parsed
from warehouse.spark import fresh_warehouse


class Domain(NamedTuple):
    """Folders of models that are empty together: where no kind of source that fills them landed, and `declared` state
    nothing."""

    marts: tuple[str, ...]
    staging: tuple[str, ...]
    declared: tuple[str, ...] = ()

    def folders(self) -> list[str]:
        return [*(f"marts/{folder}" for folder in self.marts), *(f"staging/{folder}" for folder in self.staging)]


DOMAINS = (
    Domain(("curves",), (), ("arms",)),
    Domain(("turns",), ("rollouts",)),
    Domain(
        ("rounds", "teacher"),
        ("rounds", "teacher"),
        ("decision_windows", "evaluation_plans", "run_aliases", "run_roles", "model_prices"),
    ),
    Domain(
        ("checkpoints",),
        ("checkpoints",),
        ("cells", "baselines", "arm_repos", "spare_repos"),
    ),
)


def build(
    home: Home,
    dbt_args: Sequence[str] = (),
    target: str = "duckdb",
    domains_of_kinds: Mapping[str, Collection[str]] | None = None,
) -> str:
    """Run `dbt build` over the home; returns what came of it in a line.

    Without arguments the domains that have evidence are built and tested; the marts of the others become empty tables
    at once, for dbt takes as long over an empty model as over a full one. `domains_of_kinds` says which folders of
    marts have rows because of a kind of source. Unit tests are for those who change a model.

    Raises SeamlineError where declared facts, the warehouse or a test is at fault, UsageError for arguments that dbt
    does not know.
    """
    check_declared(home)
    is_on_spark = target == "spark"
    check_current(home, opens_files=True)
    if is_on_spark:
        check_engine()
    else:
        connect(home, read_only=False).close()
    idle = [] if dbt_args else _idle_domains(home, domains_of_kinds or {})
    fresh: AbstractContextManager[dict[str, str]] = nullcontext({})
    if is_on_spark:
        fresh = fresh_warehouse(home, is_whole=not dbt_args)
    with (
        fresh as settings,
        _environment(home, idle, settings),
        counting("building", is_shown=not dbt_args) as count,
    ):
        from dbt.adapters.duckdb.connections import DuckDBConnectionManager
        from dbt.artifacts.schemas.run import RunExecutionResult
        from dbt.cli.exceptions import DbtUsageException
        from dbt.cli.main import dbtRunner

        def on_event(event) -> None:
            if event.info.name in ("LogModelResult", "LogTestResult"):
                count(getattr(event.data, "total", 0) or event.data.num_models)

        arguments = ["build", "--project-dir", str(PROJECT), "--profiles-dir", str(PROJECT), "--target", target]
        arguments += dbt_args
        parsed, parsed_before = None, None
        if not dbt_args:
            arguments = ["--quiet", *arguments]
            arguments += ["--exclude-resource-type", "unit_test", "--exclude-resource-type", "exposure"]
            if idle:
                arguments += ["--exclude", *_selectors_of(idle)]
            parsed = parsed_file(target)
            parsed_before = read_parsed(parsed)
        try:
            result = dbtRunner(manifest=parsed_before, callbacks=[on_event]).invoke(arguments)
        finally:
            # dbt keeps the warehouse open, which would keep an export in this process out
            DuckDBConnectionManager.close_all_connections()
        if parsed and not parsed_before:
            keep_parsed(target, parsed, Path(os.environ["DBT_TARGET_PATH"]) / "partial_parse.msgpack")
        if isinstance(result.exception, DbtUsageException):
            raise UsageError(f"dbt build: {result.exception}")
        if result.exception:
            raise SeamlineError(f"dbt could not run: {result.exception}")
        if not isinstance(result.result, RunExecutionResult):  # dbt itself answered `-h` or `--version`
            return f"{home.path}: nothing was built"
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
            "the mart `findings` says what was seen and what settles it"
        )
    built, passed = (sum(r.status == status for r in nodes) for status in ("success", "pass"))
    empty = f"; no evidence of {', '.join(mart for domain in idle for mart in domain.marts)}" if idle else ""
    place = home.spark_warehouse if is_on_spark else home.warehouse
    return f"{place}: {built} models built, {passed} tests pass, {len(warnings)} warn{empty}"


def _idle_domains(home: Home, domains_of_kinds: Mapping[str, Collection[str]]) -> list[Domain]:
    """The domains without evidence. A kind that nothing is said of keeps every domain awake."""
    kinds = {source.kind for source in landed(home).values()}
    if not kinds <= domains_of_kinds.keys():
        return []
    awake = {folder for kind in kinds for folder in domains_of_kinds[kind]}
    return [
        domain
        for domain in DOMAINS
        if awake.isdisjoint(domain.marts) and not any(declared_rows(home, name) for name in domain.declared)
    ]


def _selectors_of(domains: list[Domain]) -> list[str]:
    """dbt's selectors of their models and data tests, by folder. (`path:` walks the disk for every node.)"""
    models = [f"fqn:{folder.replace('/', '.')}" for domain in domains for folder in domain.folders()]
    return [*models, *(f"fqn:{folder}" for domain in domains for folder in domain.marts)]


@contextmanager
def _environment(home: Home, idle: list[Domain], settings: dict[str, str]) -> Iterator[None]:
    """dbt's settings for this home, in the environment while dbt runs."""
    wanted = {
        "SEAMLINE_HOME": str(home.path),
        "SEAMLINE_IDLE": ",".join(folder for domain in idle for folder in domain.folders()),
        "DBT_TARGET_PATH": str(home.path / "target"),
        "DBT_LOG_PATH": str(home.path / "logs"),
        # Debug lines take a tenth of a build. Whoever wants them sets the variable.
        "DBT_LOG_LEVEL_FILE": os.environ.get("DBT_LOG_LEVEL_FILE", "info"),
        **settings,
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
