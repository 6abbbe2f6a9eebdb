"""Opening a home's warehouse, with an error that says who should close it where another process holds it."""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from homes.errors import HomeError
from homes.outdated import check_current
from homes.paths import PROJECT, Home

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


def connect(home: Home, read_only: bool = True) -> "DuckDBPyConnection":
    """A connection to the warehouse. Raises HomeError where it is missing, damaged or held by another process."""
    import duckdb

    if read_only and not home.warehouse.exists():
        raise HomeError(f"{home.path}: nothing is built yet; run `seamline build`")
    try:
        warehouse = duckdb.connect(str(home.warehouse), read_only=read_only)
        # DuckDB draws it on stdout, between the results, terminal or not
        warehouse.execute("set enable_progress_bar = false")
        return warehouse
    except duckdb.IOException as error:
        held = re.search(r"lock is held in (.*) \(PID (\d+)\)", str(error))
        if held:
            raise HomeError(
                f"{home.warehouse}: held open by process {held[2]} ({held[1]}); close its connection, then try again"
            ) from error
        raise HomeError(f"{home.warehouse}: can't be opened ({error}); move it away and build again") from error


@contextmanager
def open_warehouse(home: Home, target: str = "duckdb") -> Iterator["DuckDBPyConnection"]:
    """The warehouse that a target's build made, read-only, until the block ends.

    Raises HomeError where it is missing, held by another process, lacks a table, or the home is of another version.
    """
    import duckdb

    check_current(home)
    with _spark_tables(home) if target == "spark" else connect(home) as warehouse:
        # `dbt build` by hand registers landing folders relative to the checkout
        warehouse.execute("set file_search_path = ?", [str(PROJECT)])
        try:
            yield warehouse
        except (duckdb.CatalogException, duckdb.BinderException, duckdb.IOException) as error:
            again = "seamline build" + (" --target spark" if target == "spark" else "")
            reason = str(error).splitlines()[0]
            raise HomeError(f"{home.path}: not built by this version ({reason}); run `{again}`") from error


def _spark_tables(home: Home) -> "DuckDBPyConnection":
    """A database in memory: views of the marts that Spark made."""
    import duckdb

    marts = sorted(folder for folder in home.spark_warehouse.glob("*") if any(folder.glob("*.parquet")))
    if not marts:
        raise HomeError(f"{home.path}: nothing is built on Spark yet; run `seamline build --target spark`")
    warehouse = duckdb.connect(config={"memory_limit": os.environ.get("SEAMLINE_MEMORY", "4GB")})
    warehouse.execute("set enable_progress_bar = false")
    for folder in marts:
        files = f"{folder}/*.parquet".replace("'", "''")
        warehouse.execute(f"""create view main."{folder.name}" as from read_parquet('{files}')""")
    return warehouse
