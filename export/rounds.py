"""Exports of a campaign in rounds: tables, the decision, what was compared, the schema, and the records themselves."""

import json
from pathlib import Path

import duckdb

from export.records import copy_saved_steps, record_bytes, saved_step_bytes, write_candidates
from export.tables import read_rows, write_csv
from homes.candidates import TOKEN_ARRAYS
from homes.names import file_stem

RULE = (
    "Windows, expected counts and thresholds are declared before the candidates exist. A window is complete when "
    "exactly the expected candidates are there and the validity of each is known; it passes when it is complete and "
    "its valid count is at least its threshold. Bounds of a fraction are 95% Wilson bounds, those of a difference "
    "Newcombe's."
)
WINDOW = (
    "window_name, role, first_step, last_step, expected_candidate_count, candidate_count, valid_count, valid_fraction, "
    "valid_fraction_low, valid_fraction_high, threshold_valid_count, cast(registered_at as varchar) as registered_at, "
    "cast(first_candidate_at as varchar) as first_candidate_at, is_preregistered, is_complete, passes, source"
)
DIFFERENCE = (
    "window_name, baseline_window_name, valid_count_difference, valid_fraction_difference, "
    "valid_fraction_difference_low, valid_fraction_difference_high, is_complete"
)
SUMMARY = "native_step_count, native_value_count, step_count, shared_value_count, disagreement_count"
DISAGREEMENT = "step, metric, native_value, wandb_value, native_value_text, wandb_value_text"
EVIDENCE = ("candidates", "training_metrics")
SYSTEM = "exported_row_count, logged_row_count, server_event_count"
LANDS_ARRAYS = "seamline ingest rounds PATH --token-arrays"


def write(warehouse: duckdb.DuckDBPyConnection, folder: Path, profile: str) -> str:
    """Write `tables/` and `records/<run>/` below `folder`; returns the README's section, empty without data."""
    tables = folder / "tables"
    if not any(warehouse.execute(f"select 1 from {mart} limit 1").fetchone() for mart in EVIDENCE):
        return ""
    _write_training_metrics(warehouse, tables)
    _write_table(warehouse, tables / "task_validity.csv", "task_validity", "run_id, step, task")
    by_branch = "run_id, reward_rule nulls last, is_valid nulls last, has_penalty nulls last"
    _write_table(warehouse, tables / "reward_branches.csv", "reward_branches", by_branch)
    for name, keys in (
        ("evaluation_summary", "plan_name, run_id, policy, task"),
        ("evaluation_verdicts", "plan_name, run_id"),
        ("saved_steps", "run_id, step"),
    ):
        if warehouse.execute(f"select 1 from {name} limit 1").fetchone():
            _write_table(warehouse, tables / f"{name}.csv", name, keys)
    _write_json(tables / "decision.json", _decision(warehouse))
    _write_json(tables / "reconciliation.json", _reconciliation(warehouse))
    _write_json(tables / "schema.json", _schema(warehouse))
    write_candidates(warehouse, folder / "records", profile)
    absent = copy_saved_steps(warehouse, folder / "records") if profile == "archive" else []
    return _section(warehouse, profile, absent)


def sizes(warehouse: duckdb.DuckDBPyConnection, profile: str) -> dict[str, int]:
    """About how many bytes the large parts of the export will have."""
    found = {f"records/{file_stem(run)}/rollout": count for run, count in record_bytes(warehouse, "candidates")}
    if profile == "archive":
        for run, count in saved_step_bytes(warehouse):
            found[f"records/{file_stem(run)}/checkpoints"] = count
    return found


def row_counts(warehouse: duckdb.DuckDBPyConnection) -> dict[str, int]:
    """Rows that the marts hold for a CSV file that is not one mart."""
    steps = warehouse.execute("select distinct run_id, step, source_file from training_metrics").fetchall()
    return {"tables/training_metrics.csv": len(steps)}


def _write_table(warehouse: duckdb.DuckDBPyConnection, path: Path, mart: str, keys: str) -> None:
    done = warehouse.execute(f"select * from {mart} order by {keys}")
    header = [column[0] for column in done.description]
    write_csv(path, header, iter(done.fetchone, None))


def _write_json(path: Path, value: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n", encoding="utf-8")


def _write_training_metrics(warehouse: duckdb.DuckDBPyConnection, tables: Path) -> None:
    """One row per completed step: run_id, step, source_file, then every metric under its own key, sorted by name."""
    names = [n for (n,) in warehouse.execute("select distinct metric from training_metrics order by metric").fetchall()]
    steps: dict[tuple, dict[str, object]] = {}
    done = warehouse.execute(
        "select run_id, step, source_file, metric, native_value, native_value_text from training_metrics "
        "order by run_id, step, metric"
    )
    for run_id, step, source, metric, value, text in iter(done.fetchone, None):
        steps.setdefault((run_id, step, Path(source).name), {})[metric] = value if text is None else json.loads(text)
    header = ["run_id", "step", "source_file", *names]
    cells = ([*key, *(_cell(row.get(name)) for name in names)] for key, row in steps.items())
    write_csv(tables / "training_metrics.csv", header, cells)
    lead = ("run_id", "step", "source_file")
    _write_json(
        tables / "training_metrics.json",
        [dict(zip(lead, key, strict=True)) | {n: _finite(v) for n, v in row.items()} for key, row in steps.items()],
    )


def _cell(value: object) -> object:
    return json.dumps(value) if isinstance(value, (list, dict)) else value


def _finite(value: object) -> object:
    """JSON has no NaN and no infinities: they are written as text."""
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}[repr(value)]
    return value


def _decision(warehouse: duckdb.DuckDBPyConnection) -> dict:
    runs = [r for (r,) in warehouse.execute("select distinct run_id from validity_windows order by 1").fetchall()]
    quoted = {run: "'" + run.replace("'", "''") + "'" for run in runs}
    return {
        "rule": RULE,
        "runs": [
            {
                "run_id": run,
                "windows": read_rows(
                    warehouse,
                    f"select {WINDOW} from validity_windows where run_id = {quoted[run]} "
                    "order by first_step, last_step, window_name",
                ),
                "differences": read_rows(
                    warehouse,
                    f"select {DIFFERENCE} from window_comparisons where run_id = {quoted[run]} order by 1, 2",
                ),
            }
            for run in runs
        ],
    }


def _reconciliation(warehouse: duckdb.DuckDBPyConnection) -> dict:
    disagreements: dict[str, list[dict]] = {}
    sql = f"select run_id, {DISAGREEMENT} from metric_reconciliation where not agrees order by run_id, step, metric"
    for row in read_rows(warehouse, sql):
        disagreements.setdefault(row.pop("run_id"), []).append({k: _finite(v) for k, v in row.items()})
    metrics = read_rows(warehouse, f"select run_id, {SUMMARY} from metric_reconciliation_summary order by run_id")
    return {
        "native_metrics": [row | {"disagreements": disagreements.get(row["run_id"], [])} for row in metrics],
        "system_records": read_rows(warehouse, f"select run_id, {SYSTEM} from system_metric_counts order by run_id"),
        "note": "No count of system records is claimed to be the number of physical measurements.",
    }


def _schema(warehouse: duckdb.DuckDBPyConnection) -> dict:
    """Every key and its types by family, every system metric in the runs' own logs, and what was not landed."""
    found: dict[str, dict[str, list[str]]] = {}
    sql = "select family, field, json_type from observed_fields order by family, field, json_type"
    for family, field, kind in warehouse.execute(sql).fetchall():
        found.setdefault(family, {}).setdefault(field, []).append(kind)
    logged = [name for (name,) in warehouse.execute("select metric from system_metrics order by metric").fetchall()]
    found["wandb_system_logs"] = {name: ["number"] for name in logged}
    arrays = _arrays_not_landed(warehouse)
    return found | ({"not_landed": {"candidates": arrays, "command": LANDS_ARRAYS}} if arrays else {})


def _arrays_not_landed(warehouse: duckdb.DuckDBPyConnection) -> list[str]:
    """Token arrays that candidates had, where those of some file were not asked for."""
    seen = "select distinct field from observed_fields where family = 'candidates' order by field"
    lacking = "select count(*) from candidate_files where not has_token_arrays"
    [(count,)] = warehouse.execute(lacking).fetchall()
    return [field for (field,) in warehouse.execute(seen).fetchall() if count and field in TOKEN_ARRAYS]


def _section(warehouse: duckdb.DuckDBPyConnection, profile: str, absent: list[str]) -> str:
    counts = dict(warehouse.execute("select thing, thing_count from campaign_counts").fetchall())
    lines = [
        "## Rounds\n",
        f"{counts['kept_candidates']:,} of {counts['candidates']:,} landed candidates count; the others are labelled "
        "(drop_reason, is_diagnostic).\n",
        "- `tables/decision.json`: the declared windows, their arithmetic, thresholds, differences and verdicts",
        "- `tables/task_validity.csv`, `tables/reward_branches.csv`: counts with their denominators",
        "- `tables/training_metrics.csv` and `.json`: every native metric, one row per completed step",
        "- `tables/reconciliation.json`: native metrics beside W&B, and three counts of system records",
        "- `tables/schema.json`: every key and type that was seen",
        "- `records/<run>/rollout/`: each candidate as it was written, one a line, and its label in `.labels.csv`\n",
    ]
    if profile == "reading":
        lines.append("This is the reading copy: arrays with one number a token and saved steps are left out.\n")
    if arrays := _arrays_not_landed(warehouse):
        names = ", ".join(f"`{name}`" for name in arrays)
        lines.append(f"Not landed, so not in `records/`: {names}. `{LANDS_ARRAYS}` lands them.\n")
    if absent:
        lines.append(f"Not copied, because no longer where they were ingested: {', '.join(absent)}.\n")
    return "\n".join(lines)
