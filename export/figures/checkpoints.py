"""Figures of a sweep: scores over hours and over driver tokens, and what a point of gain cost."""

import altair as alt
import duckdb

from export.figures.style import BLUE, GREEN, GREY, PALETTE, SHAPES, VERMILLION, Row, data, panels, rows, titled

OK, BROKEN, UNKNOWN = "stops at the end of a turn", "a floor: does not stop there", "unknown whether it stops"

SCORES = """
    select
        suite, cell, model_id, score, baseline_score, harness, hour, hour_source, driver_tokens_at_hour, eos_ok,
        best_score_by_hour, best_score_by_tokens
    from cell_scores
    where score is not null and not isnan(score) and is_plotted and is_valid
    order by suite, cell, hour, model_id
"""
LEFT_OUT = "select cell from cells where not is_plotted or not is_valid"
COSTS = """
    select suite, cell, model_id, gain, cost_per_point, cost_status
    from cell_scores
    where cost_status <> 'unscored' and is_plotted
    order by suite, cell, model_id
"""


def score_over_hour(warehouse: duckdb.DuckDBPyConnection) -> alt.TopLevelMixin | None:
    """Each cell's scores over the hours of its run; hollow points are floors."""
    return _scores(warehouse, "hour", "best_score_by_hour", "hours into the run", "Scores over time")


def score_over_tokens(warehouse: duckdb.DuckDBPyConnection) -> alt.TopLevelMixin | None:
    """Each cell's scores over the tokens its driver had used; hollow points are floors."""
    return _scores(
        warehouse,
        "driver_tokens_at_hour",
        "best_score_by_tokens",
        "driver tokens used by then",
        "Scores over driver tokens",
    )


def _scores(
    warehouse: duckdb.DuckDBPyConnection, x: str, best: str, x_title: str, title: str
) -> alt.TopLevelMixin | None:
    scored = rows(warehouse, SCORES)
    for row in scored:
        row["packaging"] = {True: OK, False: BROKEN, None: UNKNOWN}[row.pop("eos_ok")]
    found = [row for row in scored if row[x] is not None]
    if not found:
        return None
    suites = sorted({str(row["suite"]) for row in found})
    plots = [_suite([row for row in found if row["suite"] == suite], suite, x, best, x_title) for suite in suites]
    lost = len(scored) - len(found)
    cells = len(warehouse.execute(LEFT_OUT).fetchall())
    left_out = [
        f"{lost} scored checkpoints whose {'hour is' if x == 'hour' else 'driver tokens are'} unknown" if lost else "",
        f"{cells} cells declared invalid or not to be plotted" if cells else "",
    ]
    return titled(
        alt.vconcat(*plots).resolve_scale(y="independent"),
        title,
        "Hollow circles: the checkpoint does not stop at the end of a turn; its score is a floor, not a measurement.",
        "Blue line: the best score so far of points that can be compared. Dashed: the untrained model.",
        f"Not drawn: {' and '.join(filter(None, left_out))}." if any(left_out) else "",
    )


def _suite(values: list[Row], suite: str, x: str, best: str, x_title: str) -> alt.FacetChart:
    packaging = [OK, BROKEN, UNKNOWN]
    names = [name for name in packaging if any(row["packaging"] == name for row in values)]
    stroke = {OK: BLUE, BROKEN: VERMILLION, UNKNOWN: GREY}
    fill = {OK: BLUE, BROKEN: "transparent", UNKNOWN: "transparent"}
    shape = {OK: "circle", BROKEN: "circle", UNKNOWN: "square"}
    legend = alt.Legend(orient="bottom", title=None, symbolStrokeWidth=1.6)

    def scale(of: dict[str, str]) -> alt.Scale:
        return alt.Scale(domain=names, range=[of[name] for name in names])

    horizontal = alt.X(
        f"{x}:Q", title=x_title, axis=alt.Axis(tickCount=4, format=alt.Undefined if x == "hour" else "~s")
    )
    vertical = alt.Y("score:Q", title="score", axis=alt.Axis(tickCount=4), scale=alt.Scale(zero=False, padding=6))
    base = alt.Chart()
    baseline = base.mark_rule(color=GREY, strokeDash=[4, 3]).encode(y=alt.Y("min(baseline_score):Q", title="score"))
    line = (
        base.transform_filter(f"datum.{best} != null")
        .mark_line(interpolate="step-after", color=BLUE, strokeWidth=1.2, opacity=0.6)
        .encode(x=horizontal, y=alt.Y(f"{best}:Q", title="score"))
    )
    points = base.mark_point(size=34, strokeWidth=1.6, opacity=1).encode(
        x=horizontal,
        y=vertical,
        fill=alt.Fill("packaging:N", scale=scale(fill), legend=legend),
        stroke=alt.Stroke("packaging:N", scale=scale(stroke), legend=legend),
        shape=alt.Shape("packaging:N", scale=scale(shape), legend=legend),
        tooltip=[
            "cell:N",
            "model_id:N",
            "score:Q",
            "hour:Q",
            "hour_source:N",
            "driver_tokens_at_hour:Q",
            "packaging:N",
        ],
    )
    layers = [baseline] if any(row["baseline_score"] is not None for row in values) else []
    layers += [line] if any(row[best] is not None for row in values) else []
    chart = panels([*layers, points], values, "cell")
    return chart.properties(title=alt.TitleParams(suite, fontSize=13, offset=8))


def cost_per_point(warehouse: duckdb.DuckDBPyConnection) -> alt.TopLevelMixin | None:
    """Driver tokens per point of gain of each cell's checkpoints, where a cost may be stated."""
    every = rows(warehouse, COSTS)
    found = [row for row in every if row["cost_per_point"] is not None]
    if not found:
        return None
    suites = sorted({str(row["suite"]) for row in found})
    tones = alt.Scale(domain=suites, range=[[BLUE, GREEN, *PALETTE][i % 8] for i in range(len(suites))])
    chart = (
        alt.Chart(data(found))
        .mark_point(filled=True, size=55, opacity=0.8)
        .encode(
            x=alt.X(
                "cost_per_point:Q",
                title="driver tokens per point of gain (logarithmic)",
                scale=alt.Scale(type="log"),
                axis=alt.Axis(format="~s", tickCount=6),
            ),
            y=alt.Y("cell:N", title=None, axis=alt.Axis(labelLimit=220, grid=True)),
            yOffset=alt.YOffset("suite:N", scale=alt.Scale(domain=suites)),
            color=alt.Color("suite:N", title="suite", scale=tones, legend=alt.Legend(orient="top")),
            shape=alt.Shape("suite:N", title="suite", scale=alt.Scale(domain=suites, range=SHAPES[: len(suites)])),
            tooltip=["cell:N", "suite:N", "model_id:N", "gain:Q", "cost_per_point:Q"],
        )
        .properties(width=640, height=alt.Step(14))
    )
    reasons: dict[str, int] = {}
    for row in every:
        if row["cost_per_point"] is None:
            reasons[str(row["cost_status"])] = reasons.get(str(row["cost_status"]), 0) + 1
    why = ", ".join(f"{count} {reason.replace('_', ' ')}" for reason, count in sorted(reasons.items()))
    return titled(
        chart,
        "What a point of gain cost",
        "Driver tokens used by then, divided by score minus baseline. Left is cheaper.",
        f"No cost may be stated for {sum(reasons.values())} other scores: {why}." if reasons else "",
    )
