"""Exports of a sweep: the published index of checkpoints, and what a reader must know before comparing two."""

import json
from pathlib import Path

import duckdb

from export.tables import escape, markdown_table, shown, write_csv

FIELDS = {
    "model_id": "full model id",
    "cell": "which run produced it; BASELINE is the untrained model every cell started from",
    "driver": "the agent that ran the cell",
    "effort": "its reasoning effort",
    "hour": "hours into the run: the x-axis",
    "hour_source": "how the hour was determined, see below",
    "hour_upper_bound": "for untimed rows: latest known hour in the same family",
    "driver_tokens_at_hour": "cumulative driver tokens at that moment (all input, cached input once, plus output): "
    "the cost axis",
    "role": "`SUBMITTED` / `fallback` / `intermediate`",
    "eos_ok": "packaging correctness, whatever serves it: read this before comparing; empty is unknown",
    "eos_token_id": "the ids at which transformers stops, as a JSON list",
    "source": "original path in the run, or the repo it was read from",
}
"""Columns of the manifest and what they mean."""

HOUR_SOURCES = {
    "mtime": "newest file time of the checkpoint, inside the run (exact)",
    "janitor": "archive times of the cell's ckpt-janitor.log (exact)",
    "extrapolated": "that family's own step-to-time line",
    "model_id": "the whole hour in an id published earlier",
    "unrecoverable": "no timing record survives: use `hour_upper_bound` and step order, or exclude",
    "baseline": "the untrained model, hour 0 by definition",
}

COST = """### Cost per point of gain

```python
cost_per_point = row["driver_tokens_at_hour"] / (score - baseline_score)
```

Restrict to `eos_ok` rows with a positive gain, and compare scores of one harness only: elsewhere the packaging artifact
reads as poor cost-efficiency. `tables/checkpoint_scores.csv` holds it where it may be stated, and in `cost_status` why
not elsewhere.
"""

VISION = """
A model of text and images without a `preprocessor_config.json` fails to start on vLLM, which asks for the file. Serve
it for text alone:

```
--limit-mm-per-prompt '{"image": 0, "video": 0}'
```
"""

_FAMILIES = """
    select cell, family, checkpoint_count, anchor_count, round(hours_per_step, 9) as hours_per_step,
           round(hour_at_step_0, 6) as hour_at_step_0, round(cadence_error_hours, 6) as cadence_error_hours, has_cadence
    from checkpoint_families order by cell, family
"""
# Rounded, because the last digits of sums of doubles vary from run to run, and files must not.


def write(warehouse: duckdb.DuckDBPyConnection, folder: Path, profile: str) -> str:
    """Write `manifest.csv`, `manifest.json`, `tables/checkpoint_*.csv`; returns the README's section."""
    if not warehouse.execute("select 1 from manifest_entries where cell <> 'BASELINE' limit 1").fetchone():
        return ""
    _write_manifest(warehouse, folder)
    for name, query in (
        ("checkpoint_scores", "select * from checkpoint_scores order by suite, cell nulls first, model_id"),
        ("checkpoint_frontier", "select * from frontier_scores order by suite, cell, hour, model_id"),
        ("checkpoint_families", _FAMILIES),
    ):
        _write_table(warehouse, folder / "tables" / f"{name}.csv", query)
    return "\n".join(
        [
            "## Checkpoints\n",
            "Every checkpoint of the sweep, one a row, in `manifest.csv` and `manifest.json`. Ids read "
            "`{org}/{cell}.h{HHH}.{family}.{step}`: `hHHH` is the hour of the cell's run at which the checkpoint was "
            "written, `hNA` an hour that could not be recovered. Untrained models are there too, as cell BASELINE.\n",
            _cells(warehouse),
            _packaging(warehouse),
            _serving(warehouse),
            "### Fields of the manifest\n",
            markdown_table(["field", "meaning"], [(f"`{name}`", meaning) for name, meaning in FIELDS.items()]),
            _hour_sources(warehouse),
            COST,
            _baselines(warehouse),
            _companions(warehouse),
        ]
    )


def row_counts(warehouse: duckdb.DuckDBPyConnection) -> dict[str, int]:
    """Rows that the marts hold for each CSV file that is not named as its mart."""
    files = {
        "manifest.csv": "manifest_entries",
        "tables/checkpoint_frontier.csv": "frontier_scores",
        "tables/checkpoint_families.csv": "checkpoint_families",
    }
    counts = {}
    for file, mart in files.items():
        [(counts[file],)] = warehouse.execute(f"select count(*) from {mart}").fetchall()
    return counts


def _write_manifest(warehouse: duckdb.DuckDBPyConnection, folder: Path) -> None:
    rows = warehouse.execute("""
        select model_id, cell, driver, effort, hour, hour_source, hour_upper_bound, driver_tokens_at_hour, role, eos_ok,
               eos_token_ids, source
        from manifest_entries
        order by cell <> 'BASELINE', cell, hour nulls last, model_id
    """).fetchall()
    ids = list(FIELDS).index("eos_token_id")
    write_csv(
        folder / "manifest.csv",
        list(FIELDS),
        [[*row[:ids], None if row[ids] is None else json.dumps(row[ids]), *row[ids + 1 :]] for row in rows],
    )
    lines = (json.dumps(dict(zip(FIELDS, row, strict=True)), ensure_ascii=False) for row in rows)
    (folder / "manifest.json").write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")


def _write_table(warehouse: duckdb.DuckDBPyConnection, path: Path, query: str) -> None:
    done = warehouse.execute(query)
    header = [column[0] for column in done.description]
    write_csv(path, header, done.fetchall())


def _cells(warehouse: duckdb.DuckDBPyConnection) -> str:
    rows = warehouse.execute("""
        select cell, driver, effort, checkpoint_count, submitted_hour, is_plotted, note
        from cells where is_valid and checkpoint_count > 0 order by checkpoint_count desc, cell
    """).fetchall()
    invalid = warehouse.execute("select cell, note from cells where not is_valid order by cell").fetchall()
    table = markdown_table(
        ["cell", "driver", "effort", "checkpoints", "submitted at hour", "plotted", "note"],
        [
            (f"`{c}`", _or_dash(d), _or_dash(e), shown(n), shown(h), "yes" if plotted else "no", escape(note or ""))
            for c, d, e, n, h, plotted, note in rows
        ],
    )
    absent = "".join(
        f"\n`{cell}` is not valid and deliberately absent. {escape(note or '')}\n" for cell, note in invalid
    )
    return "### Cells\n\n" + table + absent


def _packaging(warehouse: duckdb.DuckDBPyConnection) -> str:
    rows = warehouse.execute("""
        select cell, eos_ok_count, eos_known_count, checkpoint_count
        from cells where is_valid and checkpoint_count > 0 order by cell
    """).fetchall()
    return (
        "### Before you compare two checkpoints\n\nA checkpoint whose `eos_token_id` misses the end-of-turn token does "
        "not stop at the end of a turn and overruns the context window: its score is a **floor, not a measurement**. "
        "This is packaging, not capability, and differs from cell to cell. `eos_ok` is true where every server stops: "
        "transformers at the ids of `generation_config.json` (without that file, of `config.json`), vLLM at the "
        "tokenizer's `eos_token` besides.\n\n"
        + markdown_table(
            ["cell", "eos_ok", "of", "unknown"],
            [(f"`{cell}`", shown(ok), shown(count), shown(count - known)) for cell, ok, known, count in rows],
        )
    )


def _serving(warehouse: duckdb.DuckDBPyConnection) -> str:
    """What to know before serving, where it holds for a checkpoint of a cell."""
    rows = warehouse.execute("""
        select serving.cell, serving.architecture, serving.lacking_preprocessor_count, serving.vision_tower_count,
               serving.lacking_chat_template_count, serving.adapter_count, serving.checkpoint_count
        from cell_serving as serving inner join cells on serving.cell = cells.cell
        where cells.is_valid and (
            serving.lacking_preprocessor_count > 0
            or serving.lacking_chat_template_count > 0
            or serving.adapter_count > 0
        )
        order by serving.cell, serving.architecture
    """).fetchall()
    if not rows:
        return ""
    head = ["cell", "architecture", "no preprocessor", "vision tower", "no chat template", "adapters", "of"]
    cells = [(f"`{cell}`", _or_dash(name), *map(shown, counts)) for cell, name, *counts in rows]
    note = "### Serving these checkpoints\n\n" + markdown_table(head, cells)
    if any(row[2] for row in rows):
        note += VISION
    return note


def _hour_sources(warehouse: duckdb.DuckDBPyConnection) -> str:
    rows = warehouse.execute(
        "select hour_source, checkpoint_count, cadence_error_hours from hour_sources "
        "order by checkpoint_count desc, hour_source"
    ).fetchall()
    error = next((error for _, _, error in rows if error is not None), None)
    section = "### hour_source\n\n" + markdown_table(
        ["value", "n", "meaning"],
        [(f"`{source}`", shown(n), HOUR_SOURCES.get(source, "as its publisher says")) for source, n, _ in rows if n],
    )
    if error is not None:
        section += (
            f"\nOf the families with extrapolated hours, every exact hour is predicted from the others to within "
            f"{shown(max(error, 0.01))} hours (`tables/checkpoint_families.csv`).\n"
        )
    return section


def _baselines(warehouse: duckdb.DuckDBPyConnection) -> str:
    rows = warehouse.execute(
        "select suite, model_id, harness, score from suite_baselines order by suite, model_id, harness_key"
    ).fetchall()
    if not rows:
        return ""
    return markdown_table(
        ["suite", "baseline", "harness", "baseline_score"],
        [
            (escape(suite), f"`{model_id}`", _or_dash(harness), shown(score, 6))
            for suite, model_id, harness, score in rows
        ],
    )


def _companions(warehouse: duckdb.DuckDBPyConnection) -> str:
    rows = warehouse.execute(
        "select repo, repo_type, companion_kind, file_count, contents from companion_repos order by 1, 2"
    ).fetchall()
    if not rows:
        return ""
    return "### What else is published\n\n" + markdown_table(
        ["repo", "type", "holds", "files", "contents"],
        [
            (f"`{repo}`", _or_dash(repo_type), f"the cell's {kind}", shown(count), _or_dash(contents))
            for repo, repo_type, kind, count, contents in rows
        ],
    )


def _or_dash(value: str | None) -> str:
    return "–" if value is None else escape(value)
