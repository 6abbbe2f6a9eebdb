"""What a run declared of its own axes: W&B's define_metric, as records of a log or as `_wandb.m` of a config.

Both are one list: an entry names a metric (or a glob of metrics) and its step metric, by name or by the place of the
step metric's own entry in the list, from 1. In a config the fields are the numbers of `MetricRecord` in
wandb_internal.proto: 1 name, 2 glob_name, 4 step_metric, 5 step_metric_index.
"""

from typing import Any

import pyarrow as pa

from homes.landing import TableBatch
from homes.names import storable
from ingest.formats.json_values import parse_json
from ingest.formats.values import Unreadable

_SCHEMA = pa.schema([("metric_pattern", pa.string()), ("step_metric", pa.string())])


class Axes:
    """The step metric of each metric pattern, the last that was declared."""

    def __init__(self) -> None:
        self._names: list[str] = []
        self._axes: dict[str, str] = {}

    def add(self, name: str, glob: str, step_metric: str, step_metric_index: int) -> None:
        """Take in one declaration; texts are empty and the index 0 where it does not state them."""
        self._names.append(name)
        if not step_metric and 1 <= step_metric_index <= len(self._names):
            step_metric = self._names[step_metric_index - 1]
        pattern = name or glob
        if pattern and step_metric:
            self._axes[pattern] = step_metric

    def add_config(self, config: dict[str, Any]) -> None:
        """Take in what W&B keeps of the declarations in a run's config; what has another form declares nothing."""
        own = config.get("_wandb")
        own = own.get("value", own) if isinstance(own, dict) else None
        self.add_list(own.get("m") if isinstance(own, dict) else None)

    def add_list(self, declared: object) -> None:
        """Take in `_wandb.m`, or its JSON text."""
        if isinstance(declared, str):
            try:
                declared = parse_json(declared)
            except Unreadable:
                return
        for entry in declared if isinstance(declared, list) else []:
            if isinstance(entry, dict):
                name, glob, step_metric = (_text(entry.get(key)) for key in ("1", "2", "4"))
                index = entry.get("5")
                self.add(name, glob, step_metric, index if isinstance(index, int) else 0)

    def batch(self) -> TableBatch:
        """The rows of `history_axes`."""
        columns = {"metric_pattern": list(self._axes), "step_metric": list(self._axes.values())}
        return "history_axes", pa.RecordBatch.from_pydict(columns, _SCHEMA)


def _text(value: object) -> str:
    # an escaped dot is part of one key, not the border of a nested one
    return storable(value.replace("\\.", ".")) if isinstance(value, str) else ""
