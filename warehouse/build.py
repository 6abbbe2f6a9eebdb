"""`seamline build`: dbt build for one home."""

import os
from collections.abc import Sequence
from contextlib import contextmanager

from warehouse.connect import connect
from warehouse.declared import check_declared
from warehouse.errors import SeamlineError
from warehouse.home import PROJECT, Home


def build(home: Home, dbt_args: Sequence[str] = ()) -> None:
    """Run `dbt build` over the home. Raises SeamlineError where declared facts, the warehouse or a test is at fault."""
    check_declared(home)
    connect(home, read_only=False).close()
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
