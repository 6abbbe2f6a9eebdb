"""Figures of curves: what was learned, what a restart cost, what the GPUs did. Numbers are the marts' own."""

import altair as alt
import duckdb

from export.figures.style import (
    BLUE,
    GREY,
    ORANGE,
    PALETTE,
    PINK,
    VERMILLION,
    Row,
    data,
    first_panels,
    labels,
    panels,
    rows,
    thinned,
    titled,
)

LABELS = {
    "kept": BLUE,
    "rolled back": VERMILLION,
    "seam collapsed": ORANGE,
    "other lineage": PINK,
    "excluded": GREY,
    "unpositioned": "#B9BEC6",
    "duplicate source": "#4A4F57",
}
"""What became of a logged row, in the order of the legend."""

CURVES = """
    select arm, metric, training_step, position, logged_at, run_id, value, is_seam
    from headline_steps
    order by arm, training_step
"""

STRETCHES = """
    select
        position_key, arm, segment_number, run_id, drop_reason, first_position, last_position, logged_step_count,
        row_count
    from step_stretches
    where run_id in (select run_id from runs where not is_diagnostic)
    order by position_key, arm, segment_number, first_position
"""

ROW_COUNTS = f"""
    select arm, run_id, {", ".join(f"{label.replace(' ', '_')}_row_count" for label in LABELS)}
    from runs
    where not is_diagnostic
    order by arm, run_id
"""

GPUS = """
    select arm, run_id, gpu_idx, started_after_hours, mean_busy_fraction, max_memory_allocated_bytes
    from gpu_intervals
    where run_id in (select run_id from runs where not is_diagnostic)
    order by arm, run_id, gpu_idx, interval_idx
"""


def learning_curves(warehouse: duckdb.DuckDBPyConnection) -> alt.TopLevelMixin | None:
    """Each arm's headline metric over its training steps, a dashed line where a restart joins."""
    found = rows(warehouse, CURVES)
    if not found:
        return None
    found, cut = first_panels(found, "arm", "all_arms_wide.csv")
    found, note = thinned(found, "arm", keep="is_seam")
    metrics = sorted({str(row["metric"]) for row in found})
    one = len(metrics) == 1
    x = alt.X("training_step:Q", title="training step (from 1)", axis=alt.Axis(tickCount=5, tickMinStep=1))
    title = metrics[0] if one else "headline metric of the arm"
    line = alt.Chart().mark_line(strokeWidth=1, strokeJoin="round", color=BLUE)
    seam = alt.Chart().mark_rule(color=VERMILLION, strokeDash=[3, 2], strokeWidth=1).encode(x=x)
    tooltip = ["arm:N", "metric:N", "training_step:Q", "position:Q", "value:Q", "run_id:N"]
    y = alt.Y("value:Q", title=title, axis=alt.Axis(tickCount=4))
    layers = [seam.transform_filter("datum.is_seam"), line.encode(x=x, y=y, tooltip=tooltip)]
    if _mark_lone(found):
        lone = alt.Chart().transform_filter("datum.is_lone").mark_point(filled=True, size=18, color=BLUE, opacity=1)
        layers.append(lone.encode(x=x, y=y, tooltip=tooltip))
    chart = panels(layers, found, "arm", per_panel_y=not one)
    which = "" if one else "The metric is each arm's own, and so is the y-axis."
    return titled(chart, "Learning curves", "Dashed: a restart joins the curve here.", which, note, cut)


def _mark_lone(values: list[Row]) -> bool:
    """Set `is_lone` on values without a neighbour in their arm, which a line would not show; tells whether any is."""
    place = [row["arm"] if row["value"] is not None else None for row in values]
    for row, before, own, after in zip(values, [None, *place[:-1]], place, [*place[1:], None], strict=True):
        row["is_lone"] = own is not None and own not in (before, after)
    return any(row["is_lone"] for row in values)


def rollback_audit(warehouse: duckdb.DuckDBPyConnection) -> alt.TopLevelMixin | None:
    """Which logged steps of each segment were kept, along position; one plot for each position key."""
    found = rows(warehouse, STRETCHES)
    if not found:
        return None
    found, cut = first_panels(found, "arm", "the mart `logged_steps`")
    for row in found:
        row["label"] = _label(row.pop("drop_reason"))
        row["segment"] = f"{row['arm']} {row['segment_number']:05d}"
    keys = sorted(
        {str(row["position_key"]) for row in found}, key=lambda k: (-sum(r["position_key"] == k for r in found), k)
    )
    scale = labels(_colors_of(found))
    plots = [_stretches([row for row in found if row["position_key"] == key], key, scale) for key in keys]
    return titled(
        alt.vconcat(*plots).resolve_scale(color="shared"),
        "What the restarts cost",
        "Each line is a segment: a stretch of one log in which position does not go back. A later segment overrules",
        "what an earlier one logged at or after its start. Position is counted as the trainer logs it.",
        cut,
    )


def _stretches(values: list[Row], key: str, scale: alt.Scale) -> alt.LayerChart | alt.FacetChart:
    first = "slice(datum.value, -5) == '00001'"
    axis = alt.Axis(
        title=None,
        labelExpr=f"{first} ? slice(datum.value, 0, -6) : ''",
        labelLimit=220,
        labelOverlap=False,
        ticks=False,
        domain=False,
        bandPosition=0,
        labelBaseline="top",
        labelOffset=-2,
        grid=True,
        gridColor={"condition": {"test": first, "value": "#C9CDD4"}, "value": "transparent"},
    )
    y = alt.Y("segment:N", sort=None, axis=axis)
    x = alt.X(
        "first_position:Q",
        title=f"position ({key})",
        axis=alt.Axis(tickMinStep=1, labelFlush=False),
        scale=alt.Scale(zero=False),
    )
    color = alt.Color("label:N", scale=scale, title="logged steps", legend=alt.Legend(orient="top"))
    tooltip = [
        "arm:N", "segment_number:Q", "run_id:N", "label:N", "first_position:Q", "last_position:Q",
        "logged_step_count:Q", "row_count:Q",
    ]  # fmt: skip
    base = alt.Chart(data(values)).encode(y=y, color=color, tooltip=tooltip)
    wide = base.transform_filter("datum.label != 'seam collapsed'").mark_rule(strokeWidth=5, strokeCap="square")
    point = base.transform_filter("datum.label == 'seam collapsed'")
    layers = [wide.encode(x=x, x2="last_position:Q")]
    if any(row["label"] == "seam collapsed" for row in values):
        mark = point.mark_point(shape="triangle-down", filled=True, size=46, opacity=1, yOffset=-3)
        layers.append(mark.encode(x=x))
    return alt.layer(*layers).properties(width=700, height=alt.Step(10))


def _label(drop_reason: object) -> str:
    return str(drop_reason or "kept").replace("_", " ")


def _colors_of(values: list[Row]) -> dict[str, str]:
    seen = {row["label"] for row in values}
    return {label: color for label, color in LABELS.items() if label in seen}


def row_labels(warehouse: duckdb.DuckDBPyConnection) -> alt.TopLevelMixin | None:
    """How many logged rows of each arm were kept, and why the others were not; runs of an arm are stacked."""
    found = [
        {
            "arm": row["arm"],
            "run_id": row["run_id"],
            "label": label,
            "row_count": row[f"{label.replace(' ', '_')}_row_count"],
        }
        for row in rows(warehouse, ROW_COUNTS)
        for label in sorted(LABELS)
    ]
    found = [row for row in found if row["row_count"]]
    if not found:
        return None
    found, cut = first_panels(found, "arm", "the mart `runs`")
    seen = _colors_of(found)
    for row in found:
        row["rank"] = list(seen).index(str(row["label"]))
    y = alt.Y("arm:N", title=None, axis=alt.Axis(labelLimit=220))
    base = alt.Chart(data(found))
    bars = base.mark_bar(height=13).encode(
        x=alt.X(
            "row_count:Q", title="fraction of the arm's logged rows", stack="normalize", axis=alt.Axis(format="~g")
        ),
        y=y,
        color=alt.Color("label:N", scale=labels(seen), title="logged rows", legend=alt.Legend(orient="top")),
        order="rank:Q",
        detail="run_id:N",
        tooltip=["arm:N", "run_id:N", "label:N", "row_count:Q"],
    )
    total = base.mark_text(align="left", x=alt.ExprRef("width + 8"), fontSize=10.5, color=GREY).encode(
        y=y, text=alt.Text("sum(row_count):Q", format=",")
    )
    chart = alt.layer(bars, total).properties(width=700, height=alt.Step(21))
    return titled(
        chart,
        "What became of the logged rows",
        "At the right: how many. A trainer may log several rows for one step.",
        cut,
    )


def gpu_memory(warehouse: duckdb.DuckDBPyConnection) -> alt.TopLevelMixin | None:
    """Memory allocated on each GPU, in GiB (bytes / 2^30), over the hours of the arm."""
    return _gpus(
        warehouse,
        "max_memory_allocated_bytes",
        "datum.max_memory_allocated_bytes / pow(2, 30)",
        "allocated (GiB)",
        "GPU memory",
        "The most that was allocated in each interval; a GiB is 2^30 bytes.",
    )


def gpu_busy(warehouse: duckdb.DuckDBPyConnection) -> alt.TopLevelMixin | None:
    """Share of the time each GPU was busy, over the hours of the arm."""
    return _gpus(
        warehouse,
        "mean_busy_fraction",
        "datum.mean_busy_fraction",
        "busy (fraction)",
        "GPU use",
        "The mean share of time in which a kernel ran, in each interval.",
    )


def _gpus(
    warehouse: duckdb.DuckDBPyConnection, column: str, shown: str, unit: str, title: str, what: str
) -> alt.TopLevelMixin | None:
    found = [row for row in rows(warehouse, GPUS) if row[column] is not None]
    if not found:
        return None
    found, cut = first_panels(found, "arm", "the mart `gpu_intervals`")
    found, note = thinned(found, "arm")
    gpus = sorted({row["gpu_idx"] for row in found})
    color: alt.Color | alt.Value = alt.value(BLUE)
    if len(gpus) > 1:
        color = alt.Color(
            "gpu_idx:O",
            title="GPU (from 0)",
            scale=alt.Scale(domain=gpus, range=[PALETTE[i % len(PALETTE)] for i in range(len(gpus))]),
        )
    layer = (
        alt.Chart()
        .transform_calculate(shown=shown)
        .mark_line(strokeWidth=1.2, point=alt.OverlayMarkDef(size=7))
        .encode(
            x=alt.X("started_after_hours:Q", title="hours since the arm's first sample", axis=alt.Axis(tickCount=5)),
            y=alt.Y("shown:Q", title=unit, axis=alt.Axis(tickCount=4), scale=alt.Scale(zero=True)),
            color=color,
            detail=["run_id:N", "gpu_idx:N"],
            tooltip=["arm:N", "run_id:N", "gpu_idx:O", "started_after_hours:Q", alt.Tooltip("shown:Q", title=unit)],
        )
    )
    return titled(panels([layer], found, "arm"), title, f"{what} Lines break between runs.", note, cut)


def explorer(warehouse: duckdb.DuckDBPyConnection) -> dict[str, object] | None:
    """What the report's interactive curves draw: `arms`, `metrics` (by arm), `runs`, `columns`, `rows`, `notes`.

    In a row, arm and run are places in their lists (from 0) and logged_at is ISO 8601. None without a value.
    """
    found = rows(warehouse, CURVES)
    if not found:
        return None
    found, cut = first_panels(found, "arm", "all_arms_wide.csv")
    found, note = thinned(found, "arm", keep="is_seam")
    arms = {str(row["arm"]): str(row["metric"]) for row in found}
    runs = sorted({str(row["run_id"]) for row in found})
    place = {"arm": {arm: i for i, arm in enumerate(arms)}, "run_id": {run: i for i, run in enumerate(runs)}}
    columns = ["arm", "training_step", "position", "logged_at", "run_id", "value", "is_seam"]
    return {
        "arms": list(arms),
        "metrics": list(arms.values()),
        "runs": runs,
        "columns": columns,
        "rows": [[place[c][row[c]] if c in place else row[c] for c in columns] for row in found],
        "notes": [text for text in (note, cut) if text],
    }
