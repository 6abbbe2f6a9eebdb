"""What the export of curves tells in words: INDEX.md and its section of README.md. Every number is a mart's."""

from collections.abc import Mapping
from pathlib import PurePath
from urllib.parse import quote as url

import duckdb

from export.tables import Row, escape, markdown_table, read_rows, shown

EXCLUSIONS = "select * from run_exclusions order by run_id, arm, logged_from, logged_until, reason, source"


def deviations_of(warehouse: duckdb.DuckDBPyConnection) -> dict[object, dict[tuple, list[str]]]:
    """The deviations from the recipe of each arm: (key, value, recipe's value, whether it affects learning, note) with
    the runs that have it."""
    found: dict[object, dict[tuple, list[str]]] = {}
    done = warehouse.execute(
        "select arm, config_key, value, recipe_value, affects_learning, note, run_id from config_deviations "
        "order by arm, config_key, value, recipe_value, affects_learning, note, run_id"
    )
    for arm, *deviation, run in done.fetchall():
        found.setdefault(arm, {}).setdefault(tuple(deviation), []).append(run)
    return found


def index(warehouse: duckdb.DuckDBPyConnection, curves: Mapping[str, str], runs: Mapping[str, str]) -> str:
    """INDEX.md: which runs compose each arm, what became of their rows, and what a reader must know of them.

    `curves` and `runs` hold the file of each arm and run that has one.
    """
    arms = read_rows(warehouse, "select * from arms order by arm")
    runs_of: dict[object, list[Row]] = {}
    for run in read_rows(warehouse, "select * from runs order by arm, started_at nulls last, run_id"):
        runs_of.setdefault(run["arm"], []).append(run)
    deviations = deviations_of(warehouse)
    parts = [
        "# Which runs make each curve\n",
        f"{_counted(warehouse)}. Every row that a run logged is in its by-run file; `_drop_reason` there says why a "
        "row is not on the curve (empty: it is).\n",
        _arm_table(arms, curves),
        *(_arm_section(arm, runs_of.get(arm["arm"], []), deviations.get(arm["arm"], {}), curves, runs) for arm in arms),
        _notes(warehouse),
    ]
    return "\n".join(part for part in parts if part)


def _counted(warehouse: duckdb.DuckDBPyConnection) -> str:
    """How many arms and runs there are, and the diagnostic runs beside them."""
    counts = dict(warehouse.execute("select thing, thing_count from campaign_counts").fetchall())
    beside = counts["diagnostic_runs"]
    told = f", and beside them {beside} diagnostic runs (not in `all_arms_wide.csv` and the figures)" if beside else ""
    return f"{counts['arms']} arms, stitched out of {counts['runs']} runs{told}"


def _arm_table(arms: list[Row], curves: Mapping[str, str]) -> str:
    rows = [
        [
            escape(arm["arm"]),
            _link(curves.get(str(arm["arm"])), "none"),
            shown(arm["step_count"]),
            shown(arm["expected_step_count"]),
            _state(arm),
            shown(arm["run_count"]),
            shown(arm["logged_row_count"]),
            shown(arm["lineage_count"]),
            shown(arm["median_gap"], 6),
            shown(arm["tightest_kept_gap_ratio"]),
            shown(arm["widest_collapsed_gap_ratio"]),
        ]
        for arm in arms
    ]
    header = ["arm", "curve", "steps", "expected", "state", "runs", "rows", "lineages", "median gap"]
    return markdown_table([*header, "tightest kept gap ratio", "widest collapsed gap ratio"], rows)


def _state(arm: Row) -> str:
    if arm["is_diagnostic"]:
        return "diagnostic"
    if not arm["step_count"]:
        return "no curve"
    if arm["is_running"]:
        return "running"
    return {True: "complete", False: "not as expected", None: "–"}[arm["is_complete"]]


def _arm_section(
    arm: Row,
    runs: list[Row],
    deviations: Mapping[tuple, list[str]],
    curves: Mapping[str, str],
    run_files: Mapping[str, str],
) -> str:
    name = str(arm["arm"])
    lines = [f"## {escape(name)}\n"]
    if name not in curves:
        lines.append("No curve: none of its rows is kept.\n")
    else:
        lines.append(
            f"{_link(curves[name])}: {shown(arm['step_count'])} steps along {escape(arm['position_key'])}, "
            f"ending in run {escape(arm['leaf_run_id'])}.{_lineages(arm)}\n"
        )
    if arm["has_step_hole"]:
        lines.append("The curve has a hole: `training_step` beyond it can not be trusted to join.\n")
    if arm["note"]:
        lines.append(f"Note: {escape(arm['note'])}\n")
    reasons = ["rolled_back", "seam_collapsed", "other_lineage", "excluded", "unpositioned", "duplicate_source"]
    rows = [
        [
            _link(run_files.get(str(run["run_id"])), "no rows", escape(run["run_id"])),
            escape(run["run_name"]),
            escape(run["started_at"]),
            shown(run["log_count"]),
            shown(run["first_position"], 12),
            shown(run["last_position"], 12),
            shown(run["row_count"]),
            shown(run["kept_row_count"]),
            *(shown(run[f"{reason}_row_count"]) for reason in reasons),
            {True: "unfinished", False: "finished", None: "–"}[run["is_unfinished"]],
        ]
        for run in runs
    ]
    header = ["run", "name", "started (UTC)", "logs", "first position", "last position", "rows", "kept"]
    lines.append(markdown_table([*header, *(reason.replace("_", " ") for reason in reasons), "end"], rows))
    for (key, value, recipe, affects, note), run_ids in deviations.items():
        learning = {True: "affects learning", False: "does not affect learning", None: "effect unknown"}[affects]
        lines.append(
            f"- Config {escape(key)} is {escape(value)} where the recipe says {escape(recipe)} ({learning}; runs "
            f"{', '.join(map(escape, run_ids))}){f': {escape(note)}' if note else ''}"
        )
    return "\n".join(lines) + ("\n" if deviations else "")


def _lineages(arm: Row) -> str:
    if arm["longest_other_lineage_step_count"] is None:
        return ""
    return (
        f" {shown(arm['lineage_count'])} lineages: the chosen one logged {shown(arm['chosen_lineage_step_count'])} "
        f"steps, the longest other one {shown(arm['longest_other_lineage_step_count'])}."
    )


def _notes(warehouse: duckdb.DuckDBPyConnection) -> str:
    """What holds for more than one arm: findings, notes on metrics, exclusions, logs that belong to no run."""
    parts = []
    findings = read_rows(warehouse, "select * from findings where domain = 'curves' order by kind, subject")
    if findings:
        columns = ["severity", "kind", "subject", "detail"]
        table = [
            [*(escape(row[column]) for column in columns), "<br>".join(map(escape, str(row["remedy"]).splitlines()))]
            for row in findings
        ]
        parts += ["## Findings\n", markdown_table([*columns, "remedy"], table)]
    notes = read_rows(warehouse, "select * from metric_notes order by metric_pattern, note")
    if notes:
        comparable = {True: "yes", False: "no", None: "–"}
        table = [[escape(r["metric_pattern"]), escape(r["note"]), comparable[r["is_comparable"]]] for r in notes]
        parts += ["## Notes on metrics\n", markdown_table(["metric", "note", "comparable"], table)]
    exclusions = read_rows(warehouse, EXCLUSIONS)
    if exclusions:
        columns = ["run_id", "arm", "logged_from", "logged_until", "reason", "source"]
        table = [[escape(row[column]) for column in columns] for row in exclusions]
        parts += ["## Excluded by declaration (times are UTC)\n", markdown_table(columns, table)]
    strays = read_rows(warehouse, "select * from logs where run_id is null order by source")
    if strays:
        # the last two parts of the path tell a log; the rest tells the reader's machine
        names = ["/".join(PurePath(str(row["source"])).parts[-2:]) for row in strays]
        table = [[escape(name), shown(row["lost_tail_bytes"])] for name, row in zip(names, strays, strict=True)]
        parts += ["## Logs without a run\n", markdown_table(["log", "lost bytes at its end"], table)]
    return "\n".join(parts)


def readme_section(warehouse: duckdb.DuckDBPyConnection, curves: Mapping[str, str]) -> str:
    """What the files are, what to beware of, how the stitch was done with what margins, how to load them."""
    arms = read_rows(warehouse, "select * from arms where not is_diagnostic order by arm")
    parts = [
        "## Training curves\n",
        f"Per-step training curves of {_counted(warehouse)}.\n",
        markdown_table(
            ["path", "what"],
            [
                ["`by-arm/<arm>.csv`", "one stitched curve per arm: the file to plot"],
                ["`by-run/<arm>/<run>.csv`", "raw history per run, unmerged, to audit the stitch"],
                ["`all_arms_wide.csv`", "all curves, with an `arm` column"],
                ["`arms.csv`", "each arm in numbers, with the file of its curve"],
                ["`INDEX.md`", "which runs make each curve, what was dropped and why, findings, notes"],
            ],
        ),
        "### Traps\n",
        _traps(warehouse, arms),
        "### How restarts were stitched\n",
        _stitch(arms),
        "### Load\n",
        _load(warehouse, curves),
    ]
    return "\n".join(parts)


def _traps(warehouse: duckdb.DuckDBPyConnection, arms: list[Row]) -> str:
    traps = [
        "- `training_step` counts optimizer steps from 1, counted anew along each curve. A rollout's own step counts "
        "from 0: take one off before joining.",
        "- An empty cell is a value that was not logged, or logged as null; `NaN` was logged as NaN. Text, histograms "
        "and other values that are no number are JSON.",
    ]
    longest = max((a for a in arms if a["step_count"]), key=lambda a: a["step_count"], default=None)
    if longest:
        ends = "select position from arm_steps where arm = ? and training_step in (1, ?) order by training_step"
        found = warehouse.execute(ends, [longest["arm"], longest["step_count"]]).fetchall()
        (first,), (last,) = found[0], found[-1]
        key = str(longest["position_key"])
        counted = ", which open-instruct counts in episodes, not in optimizer steps" if "global_step" in key else ""
        traps.append(
            f"- `position` is what the trainer logged as {escape(key)}{counted}: {escape(longest['arm'])} runs from "
            f"{shown(first, 12)} to {shown(last, 12)} over its {shown(longest['step_count'])} steps. "
            "Plot over `training_step`."
        )
    dead = read_rows(warehouse, "select metric, arm_count from metrics where is_dead order by metric")
    traps += [
        f"- {escape(row['metric'])} is zero wherever it was logged (arms: {shown(row['arm_count'])}): its flat line "
        "says nothing about a run."
        for row in dead
    ]
    traps += [
        f"- {escape(row['metric_pattern'])}: {escape(row['note'])}"
        for row in read_rows(warehouse, "select * from metric_notes order by metric_pattern, note")
    ]
    traps += [
        f"- {escape(arm['arm'])} has a hole: do not join by step beyond it." for arm in arms if arm["has_step_hole"]
    ]
    traps += [f"- {escape(arm['arm'])}: {escape(arm['note'])}" for arm in arms if arm["note"]]
    running = [escape(arm["arm"]) for arm in arms if arm["is_running"]]
    if running:
        traps.append(f"- Still running when this was exported: {', '.join(running)}.")
    return "\n".join(traps) + "\n"


def _stitch(arms: list[Row]) -> str:
    kept = [arm for arm in arms if arm["tightest_kept_gap_ratio"] is not None]
    collapsed = [arm for arm in arms if arm["widest_collapsed_gap_ratio"] is not None]
    text = (
        "A restarted trainer continues from its last checkpoint, as a new run or a new log. Of an arm's segments the "
        "lineage that ends in the latest one is its curve. What a segment logged at or after the start of a later one "
        "was redone, and is dropped. Where a restart does not re-enter exactly where the last one left, neighbours "
        "much closer than the arm's median gap are one optimizer step, and the later is kept. What is left is "
        "numbered from 1.\n"
    )
    if collapsed:
        widest = max(collapsed, key=lambda arm: arm["widest_collapsed_gap_ratio"])
        text += (
            f"\nThe widest pair taken for one step lay {shown(widest['widest_collapsed_gap_ratio'])} of a median gap "
            f"apart ({escape(widest['arm'])})"
        )
    else:
        text += "\nNo pair was close enough to be taken for one step"
    if kept:
        tightest = min(kept, key=lambda arm: arm["tightest_kept_gap_ratio"])
        text += (
            f"; the tightest pair taken for two lay {shown(tightest['tightest_kept_gap_ratio'])} apart "
            f"({escape(tightest['arm'])})"
        )
    expected = [arm for arm in arms if arm["is_complete"] is not None and not arm["is_running"]]
    complete = [arm for arm in expected if arm["is_complete"]]
    text += ".\n"
    if expected:
        text += f"\n{len(complete)} of {len(expected)} arms with a declared number of steps land exactly on it.\n"
    return text


def _load(warehouse: duckdb.DuckDBPyConnection, curves: Mapping[str, str]) -> str:
    plotted = warehouse.execute("select arm, metric from headline_steps order by arm limit 1").fetchone()
    arm, metric = plotted or (next(iter(curves), None), None)
    file = curves.get(str(arm), "all_arms_wide.csv")
    plot = f"curve.plot(x='training_step', y={metric!r})\n" if metric else ""
    return (
        f"```python\nimport pandas as pd\ncurve = pd.read_csv({file!r})\n{plot}```\n"
        "\n```sql\nselect * from read_csv('all_arms_wide.csv', sample_size = -1) -- DuckDB\n```\n"
    )


def _link(file: str | None, missing: str = "", text: str = "") -> str:
    return f"[{text or file}]({url(file)})" if file else (f"{text} ({missing})" if text else missing)
