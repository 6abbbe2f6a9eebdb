"""The figures of an export and of the report, drawn from the marts."""
