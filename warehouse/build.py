"""`seamline build`: dbt build for one home."""

import os
from collections.abc import Sequence
from contextlib import contextmanager

from warehouse.declared import check_declared
from warehouse.errors import HomeError, SeamlineError
from warehouse.home import PROJECT, Home


def build(home: Home, dbt_args: Sequence[str] = ()) -> None:
    """Run `dbt build` over the home. Raises SeamlineError where declared facts, the warehouse or a test is at fault."""
    check_declared(home)
    check_free(home)
    with _environment(home):
        from dbt.cli.main import dbtRunner

        arguments = ["build", "--project-dir", str(PROJECT), "--profiles-dir", str(PROJECT), *dbt_args]
        if not dbt_args:
            arguments = ["--quiet", *arguments]
        result = dbtRunner().invoke(arguments)
    if result.exception:
        raise SeamlineError(f"dbt could not run: {result.exception}")
    if not result.success:
        failed = [r.node.name for r in result.result if r.status in ("error", "fail")]
        raise SeamlineError(
            f"{len(failed)} dbt nodes failed ({', '.join(failed[:5])}{', ...' if len(failed) > 5 else ''}); "
            f"their messages stand above and in {home.path / 'logs' / 'dbt.log'}"
        )


def check_free(home: Home) -> None:
    """Raise HomeError where another process holds the warehouse open."""
    import duckdb

    try:
        duckdb.connect(str(home.warehouse)).close()
    except duckdb.IOException as error:
        if "lock" not in str(error).lower():
            raise HomeError(f"{home.warehouse}: can't be opened ({error}); move it away and build again") from error
        holder = str(error).split("Conflicting lock is held in ", 1)[-1].split(". ", 1)[0]
        raise HomeError(
            f"{home.warehouse}: held open by another process ({holder}); close its connection, then build again"
        ) from error


@contextmanager
def _environment(home: Home):
    """dbt's settings for this home, in the environment while dbt runs."""
    wanted = {
        "SEAMLINE_HOME": str(home.path),
        "DBT_TARGET_PATH": str(home.path / "target"),
        "DBT_LOG_PATH": str(home.path / "logs"),
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
