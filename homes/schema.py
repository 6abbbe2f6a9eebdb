"""The columns of every landing table and declared file, read from the YAML that dbt reads too: one truth for both."""

from dataclasses import dataclass
from functools import cache

import pyarrow as pa
import yaml

from homes.paths import PROJECT

TYPES = {
    "string": pa.string(),
    "double": pa.float64(),
    "bigint": pa.int64(),
    "int": pa.int32(),
    "boolean": pa.bool_(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us"),
    "bigint[]": pa.list_(pa.int64()),
    "int[]": pa.list_(pa.int32()),
    "double[]": pa.list_(pa.float64()),
}
"""dbt's portable type names in Arrow. Timestamps are UTC, without a zone, in microseconds."""


@dataclass(frozen=True)
class Table:
    """A source table. `key` is checked by `land`; empty where the reader's format can't repeat a row. A row states
    exactly one column of `one_of`, where that has any."""

    name: str
    folder: str
    schema: pa.Schema
    key: tuple[str, ...]
    required: frozenset[str]
    values: dict[str, tuple[str, ...]]
    one_of: tuple[str, ...] = ()


@cache
def tables() -> dict[str, Table]:
    """Every source table by name."""
    found = {}
    for file in sorted((PROJECT / "models" / "staging").glob("*/_*.yml")):
        for source in yaml.load(file.read_text(), Loader=yaml.CSafeLoader).get("sources") or []:
            folder = source["config"]["meta"]["folder"]
            for table in source["tables"]:
                columns = table["columns"]
                fields = [pa.field(c["name"], TYPES[c["data_type"]]) for c in columns]
                required = frozenset(c["name"] for c in columns if c.get("config", {}).get("meta", {}).get("required"))
                meta = table.get("config", {}).get("meta", {})
                key, one_of = tuple(meta.get("key", ())), tuple(meta.get("one_of", ()))
                values = {c["name"]: c.get("config", {}).get("meta", {}).get("values") for c in columns}
                values = {name: tuple(allowed) for name, allowed in values.items() if allowed}
                found[table["name"]] = Table(table["name"], folder, pa.schema(fields), key, required, values, one_of)
    return found


def landing_tables() -> dict[str, Table]:
    """The tables that `land` writes (the quarantine among them)."""
    return {name: table for name, table in tables().items() if table.folder != "declared"}


def declared_tables() -> dict[str, Table]:
    """The files that a person fills in."""
    return {name: table for name, table in tables().items() if table.folder == "declared"}
