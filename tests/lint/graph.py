"""Stands in for dbt's `graph` when sqlfluff renders a model: the declared files with their columns."""

from types import SimpleNamespace

from homes.schema import declared_tables

sources = {
    name: SimpleNamespace(source_name="declared", name=name, columns=dict.fromkeys(table.schema.names))
    for name, table in declared_tables().items()
}
