"""Where the tables of a build on Spark lie."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager

from homes.paths import PROJECT, Home
from homes.spark import stop_session


@contextmanager
def fresh_warehouse(home: Home, is_whole: bool) -> Iterator[dict[str, str]]:
    """dbt's settings for a build aside. When the block ends well its tables take the place of the last build's: of all
    of them where the build is whole, else of those with the same names.

    The session's catalog lives only as long as the process, so every build starts from an empty warehouse: a selection
    takes its parents along (`+arm_metrics`), and runs only the tests of what it builds.
    """
    aside, warehouse = home.path / "spark" / "building", home.spark_warehouse
    shutil.rmtree(aside, ignore_errors=True)
    (home.path / "spark" / "local").mkdir(parents=True, exist_ok=True)
    try:
        yield {
            "SEAMLINE_CHECKOUT": PROJECT.as_uri(),
            "SEAMLINE_SPARK_WAREHOUSE": str(aside),
            "DBT_TARGET_PATH": str(home.path / "target-spark"),
            "DBT_INDIRECT_SELECTION": "cautious",
        }
        if is_whole:
            shutil.rmtree(warehouse, ignore_errors=True)
        warehouse.mkdir(exist_ok=True)
        for table in sorted((aside / "main.db").glob("*")):
            shutil.rmtree(warehouse / table.name, ignore_errors=True)
            table.rename(warehouse / table.name)
    finally:
        stop_session()
        shutil.rmtree(aside, ignore_errors=True)
        shutil.rmtree(home.path / "spark" / "local", ignore_errors=True)
