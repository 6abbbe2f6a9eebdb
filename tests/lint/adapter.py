"""Stands in for dbt's `adapter` when sqlfluff renders a model: an engine macro reads as a function call."""

from collections.abc import Callable


def dispatch(name: str, namespace: str) -> Callable[..., str]:
    """A function that renders the macro `name` as `name(arguments)`."""
    return lambda *arguments: f"{name}({', '.join(map(str, arguments))})"
