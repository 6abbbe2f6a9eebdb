"""Landing rows of a small campaign, spelled out by a test whose answers are worked out by hand."""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta

EPOCH = datetime(2026, 9, 1)


class Campaign:
    """Landing rows under construction."""

    def __init__(self):
        names = (
            *("landed_sources", "history_logs", "history_rows", "history_values"),
            *("history_config", "history_axes"),
        )
        self.tables: dict[str, list[dict]] = {name: [] for name in names}

    def log(
        self,
        log_id: str,
        run_id: str | None,
        rows: Iterable[Mapping[str, object]],
        minute: float = 0,
        kind: str = "log",
        config: Mapping[str, str] | None = None,
        axes: Mapping[str, str] | None = None,
        **facts: object,
    ) -> "Campaign":
        """Rows are dicts of values, one a second from `minute`; a value may be (value, text, key_path).

        The key `_step` is the tracker's own step. `axes` are step metrics by metric pattern.
        """
        rows = list(rows)
        start = EPOCH + timedelta(minutes=minute)
        self.tables["landed_sources"].append({"source_name": log_id, "path": f"/runs/{log_id}"})
        has_exit = facts.pop("has_exit_record", False if kind == "log" else None)
        self.tables["history_logs"].append(
            {
                "source_name": log_id,
                "run_id": run_id,
                "producer": "wandb",
                "source_kind": kind,
                "started_at": start,
                "has_exit_record": has_exit,
                "history_row_count": len(rows),
            }
            | facts
        )
        for key, value in (config or {}).items():
            self.tables["history_config"].append({"source_name": log_id, "config_key": key, "value_json": value})
        for pattern, step_metric in (axes or {}).items():
            axis = {"source_name": log_id, "metric_pattern": pattern, "step_metric": step_metric}
            self.tables["history_axes"].append(axis)
        for i, values in enumerate(rows):
            row = {"source_name": log_id, "row_idx": i}
            self.tables["history_rows"].append(
                row | {"record_number": i + 1, "step": values.get("_step"), "logged_at": start + timedelta(seconds=i)}
            )
            for metric, value in values.items():
                if metric == "_step":
                    continue
                name, *_ = metric.split("@")  # `a@2` is a second row of the name `a`
                value, text, path = value if isinstance(value, tuple) else (value, None, None)
                self.tables["history_values"].append(
                    row | {"metric": name, "value": value, "value_text": text, "key_path": path}
                )
        return self

    def declare(self, table: str, **row: object) -> "Campaign":
        self.tables.setdefault(table, []).append(row)
        return self


def steps(*positions: float, key: str = "global_step", **values: object) -> list[dict]:
    """A row for each position, each with the same `values`; without any, with a loss of 1."""
    return [{key: float(p)} | (values or {"loss": 1.0}) for p in positions]
