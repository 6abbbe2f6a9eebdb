"""Runs compiled models on rows made in a test: dbt compiles once, an in-memory DuckDB does the rest."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Collection
from functools import cache
from pathlib import Path

import duckdb
import pyarrow as pa

from homes.schema import tables
from tests.python.support.command import ROOT, seamline

_FOLDER = ROOT / "models" / "marts"
MARTS = {path.stem: path.relative_to(_FOLDER).parts[0] for path in sorted(_FOLDER.rglob("*.sql"))}
"""Every mart, and its domain: the folder that it lies in."""


@cache
def _compiled(variables: str) -> dict:
    """dbt's manifest with every model compiled, under these vars: once for all tests of a process."""
    with tempfile.TemporaryDirectory() as scratch:
        environment = os.environ | {
            "SEAMLINE_HOME": scratch,
            "DBT_TARGET_PATH": f"{scratch}/target",
            "DBT_LOG_PATH": f"{scratch}/logs",
            "PYTHONPATH": str(ROOT),
        }
        seamline("init", home=Path(scratch))
        command = [Path(sys.executable).parent / "dbt", "--quiet", "compile", "--select", "resource_type:model"]
        done = subprocess.run(
            [*command, "--vars", variables], env=environment, capture_output=True, text=True, cwd=ROOT
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return json.loads(Path(scratch, "target", "manifest.json").read_text())


class Models:
    """The marts named, and all that they need, as SQL over source tables that a test fills.

    `home` is made where it is not; `variables` override dbt's vars.
    """

    def __init__(self, home: Path, marts: list[str], variables: dict | None = None):
        seamline("init", home=home)
        manifest = _compiled(json.dumps(variables or {}))
        self._nodes = {n["name"]: n for n in manifest["nodes"].values() if n["resource_type"] == "model"}
        self._order: list[str] = []
        for mart in marts:
            self._add(f"model.seamline.{mart}")
        self.connection = duckdb.connect(":memory:", config={"threads": 1})
        self.connection.execute("attach ':memory:' as warehouse; use warehouse")
        for schema in ("landing", "quarantine", "declared"):
            self.connection.execute(f"create schema {schema}")
        self._sources = {}
        self._landed: dict[str, list[dict] | None] = {}
        for source in manifest["sources"].values():
            self._sources[source["name"]] = f"{source['schema']}.{source['name']}"
            columns = ", ".join(f'"{c["name"]}" {c["data_type"]}' for c in source["columns"].values())
            self.connection.execute(f"create table {self._sources[source['name']]} ({columns})")

    def _add(self, unique_id: str) -> None:
        name = unique_id.split(".")[2]
        if not unique_id.startswith("model.") or name in self._order:
            return
        for parent in self._nodes[name]["depends_on"]["nodes"]:
            self._add(parent)
        self._order.append(name)

    def run(self, sources: dict[str, list[dict]]) -> None:
        """Build every mart over these source rows (columns left out are null); tables not named are empty.

        What depends only on sources that are as they were in the run before is left as it is.
        """
        changed = {name for name in self._sources if self._landed.get(name) != sources.get(name, [])}
        for name in changed:
            # Unknown until all is built: a model that fails leaves others to be built by the next run.
            self._landed[name] = None
            self.connection.execute(f"delete from {self._sources[name]}")
            if sources.get(name):
                schema = tables()[name].schema
                rows = pa.Table.from_pylist(sources[name], schema=schema)
                self.connection.register("given", rows)
                self.connection.execute(f"insert into {self._sources[name]} select * from given")
                self.connection.unregister("given")
        self._build(changed)
        # Copies: a test may change its rows before the next run
        self._landed |= {name: [dict(row) for row in sources.get(name, [])] for name in changed}

    def load(self, home: Path, without_kinds: Collection[str] = (), without_declared: Collection[str] = ()) -> None:
        """Build every mart over what has landed and is declared in a home, but for these kinds of source and files."""
        self._landed = {}
        for name, table in self._sources.items():
            source, columns = tables()[name], ", ".join(f'"{c}"' for c in tables()[name].schema.names)
            place = f"read_parquet('{home}/{source.folder}/{name}/*.parquet')"
            if source.folder == "declared":
                place = f"read_csv('{home}/declared/{name}.csv', header = true, all_varchar = true)"
            self.connection.execute(f"delete from {table}; insert into {table} select {columns} from {place}")
        left_out = "select source_name from landing.landed_sources where list_contains(?, kind)"
        for name, table in sorted(self._sources.items(), key=lambda item: item[0] == "landed_sources"):
            if name in without_declared:
                self.connection.execute(f"delete from {table}")
            elif without_kinds and "source_name" in tables()[name].schema.names:
                self.connection.execute(f"delete from {table} where source_name in ({left_out})", [list(without_kinds)])
        self._build(set(self._sources))

    def _build(self, changed: set[str]) -> None:
        """Build what depends on the sources that changed."""
        stale = set(changed)
        for name in self._order:
            parents = {parent.split(".")[-1] for parent in self._nodes[name]["depends_on"]["nodes"]}
            if parents and stale.isdisjoint(parents):
                continue
            stale.add(name)
            kind = "view" if self._nodes[name]["config"]["materialized"] == "view" else "table"
            self.connection.execute(f'create or replace {kind} "{name}" as {self._nodes[name]["compiled_code"]}')

    def rows(self, sql: str) -> list[tuple]:
        return self.connection.execute(sql).fetchall()
