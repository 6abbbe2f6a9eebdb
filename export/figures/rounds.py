"""Figures of a campaign in rounds: validity with its windows and thresholds, and what the teacher cost."""

import altair as alt
import duckdb

from export.figures.style import BLUE, PALETTE, SHAPES, VERMILLION, Row, data, rows, titled

MAX_RUNS = 6
STEP = "step (as the trainer counts, from 1)"
ABOVE_ZERO = alt.Scale(zero=True, padding=20, domainMin=0)
VALIDITY = """
    select run_id, step, task, candidate_count, valid_count, valid_fraction
    from task_validity
    where valid_fraction is not null
    order by run_id, step, task
"""
WINDOWS = """
    select
        run_id, window_name, first_step, last_step, valid_count, candidate_count, expected_candidate_count,
        valid_fraction, valid_fraction_low, valid_fraction_high, threshold_valid_count, is_complete, passes
    from validity_windows
    order by run_id, first_step, window_name
"""
COSTS = """
    select run_id, step, role, call_count, known_cost_usd, unknown_cost_call_count
    from teacher_costs
    where step is not null
    order by run_id, step, role
"""
WITHOUT_STEP = "select call_without_step_count from teacher_totals"


def validity(warehouse: duckdb.DuckDBPyConnection) -> alt.TopLevelMixin | None:
    """Valid candidates of each task by step, with the declared windows, their bounds and their thresholds."""
    found, windows = rows(warehouse, VALIDITY), rows(warehouse, WINDOWS)
    if not found:
        return None
    runs = sorted({str(row["run_id"]) for row in found})
    plots = [
        _validity_of(run, [r for r in found if r["run_id"] == run], [w for w in windows if w["run_id"] == run])
        for run in runs[:MAX_RUNS]
    ]
    return titled(
        alt.vconcat(*plots).resolve_scale(color="independent", shape="independent"),
        "Valid candidates by step",
        "Points: one task at one step. Bands: a declared window with its 95% interval; its line is the valid fraction,"
        if windows
        else "Points: one task at one step. No decision window is declared.",
        "the dashed line its threshold (valid candidates it needs, divided by candidates expected)." if windows else "",
        f"The first {MAX_RUNS} of {len(runs)} runs; tables/task_validity.csv has all." if len(runs) > MAX_RUNS else "",
    )


def _validity_of(run: str, values: list[Row], windows: list[Row]) -> alt.LayerChart | alt.FacetChart:
    tasks = sorted({str(row["task"]) for row in values})
    scale = alt.Scale(domain=tasks, range=[PALETTE[i % len(PALETTE)] for i in range(len(tasks))])
    # beyond six tasks colours repeat, with another shape each time
    shapes = alt.Scale(domain=tasks, range=[SHAPES[(i + i // len(PALETTE)) % len(SHAPES)] for i in range(len(tasks))])
    # tasks of one step stand beside each other, or equal fractions would hide one another
    placed = [
        row | {"beside": (tasks.index(str(row["task"])) - (len(tasks) - 1) / 2) / 2 / len(tasks)} for row in values
    ]
    points = (
        alt.Chart(data(placed))
        .transform_calculate(place="datum.step + datum.beside")
        .mark_point(size=48, filled=True, opacity=0.95)
        .encode(
            x=_x("place"),
            y=_y("valid_fraction"),
            color=alt.Color("task:N", title="task", scale=scale),
            shape=alt.Shape("task:N", title="task", scale=shapes),
            tooltip=["task:N", "step:Q", "valid_count:Q", "candidate_count:Q", "valid_fraction:Q"],
        )
    )
    layers = [*_window_layers(windows), points] if windows else [points]
    return alt.layer(*layers).properties(width=640, height=280, title=alt.TitleParams(run, fontSize=12, offset=6))


def _x(field: str) -> alt.X:
    axis = alt.Axis(tickMinStep=1, format="d", grid=False)
    return alt.X(f"{field}:Q", title=STEP, axis=axis, scale=alt.Scale(zero=False, nice=False, padding=12))


def _y(field: str) -> alt.Y:
    return alt.Y(f"{field}:Q", title="valid fraction of candidates", axis=alt.Axis(tickCount=6), scale=ABOVE_ZERO)


def _window_layers(windows: list[Row]) -> list[alt.Chart]:
    numbered = [row | {"line": number % 3} for number, row in enumerate(windows)]
    base = alt.Chart(data(numbered)).transform_calculate(
        begin="datum.first_step - 0.45",
        end="datum.last_step + 0.45",
        threshold="datum.threshold_valid_count == null ? null : "
        "datum.threshold_valid_count / datum.expected_candidate_count",
        said="datum.window_name + ': ' + datum.valid_count + ' of ' + datum.candidate_count + "
        "(datum.threshold_valid_count == null ? '' : ', needs ' + datum.threshold_valid_count) + "
        "(datum.passes == null ? (datum.is_complete ? '' : ' (not complete)') : datum.passes ? ': passes' : ': fails')",
    )
    span = base.encode(x=_x("begin"), x2="end:Q")
    threshold = (
        span.mark_rule(color=VERMILLION, strokeWidth=1.5, strokeDash=[5, 3])
        .transform_filter("datum.threshold != null")
        .encode(y=_y("threshold"))
    )
    tooltip = ["window_name:N", "valid_count:Q", "candidate_count:Q", "valid_fraction:Q", "valid_fraction_low:Q",
               "valid_fraction_high:Q", "threshold_valid_count:Q", "passes:N"]  # fmt: skip
    return [
        span.mark_rect(color=BLUE, opacity=0.16).encode(
            y=_y("valid_fraction_low"), y2="valid_fraction_high:Q", tooltip=tooltip
        ),
        span.mark_rule(color=BLUE, strokeWidth=2).encode(y=_y("valid_fraction")),
        *([threshold] if any(row["threshold_valid_count"] is not None for row in windows) else []),
        *[
            # windows may overlap: neighbours are named on different lines
            base.transform_filter(f"datum.line == {line}")
            .mark_text(align="left", baseline="bottom", y=-5 - 15 * line, fontSize=11, color=BLUE)
            .encode(x=_x("begin"), text="said:N")
            for line in range(min(3, len(windows)))
        ],
    ]


def teacher_costs(warehouse: duckdb.DuckDBPyConnection) -> alt.TopLevelMixin | None:
    """What each role of the teacher cost by step, and of how many calls the cost is unknown."""
    found = rows(warehouse, COSTS)
    if not found:
        return None
    roles = sorted({str(row["role"]) for row in found})
    runs = sorted({str(row["run_id"]) for row in found})
    color = alt.Color("role:N", title="role", scale=alt.Scale(domain=roles, range=(PALETTE * 9)[: len(roles)]))
    x = alt.X("step:O", title=STEP, axis=alt.Axis(labelAngle=0, labelOverlap=True))
    tooltip = ["run_id:N", "step:Q", "role:N", "call_count:Q", "known_cost_usd:Q", "unknown_cost_call_count:Q"]
    plots = []
    for run in runs[:MAX_RUNS]:
        base = alt.Chart(data([r for r in found if r["run_id"] == run])).encode(x=x, tooltip=tooltip)
        known = base.mark_bar().encode(y=alt.Y("known_cost_usd:Q", title="known cost (USD)"), color=color)
        unknown = base.mark_bar().encode(
            y=alt.Y("unknown_cost_call_count:Q", title="calls of unknown cost", axis=alt.Axis(tickMinStep=1)),
            color=color,
        )
        title = alt.TitleParams(run, fontSize=12, offset=6)
        plots += [
            known.properties(width=640, height=200, title=title),
            unknown.properties(width=640, height=90),
        ]
    (lost,) = warehouse.execute(WITHOUT_STEP).fetchone() or (0,)
    return titled(
        alt.vconcat(*plots),
        "What the teacher cost",
        "By role. An unknown cost is not zero: the lower plot counts the calls that the upper one can't show.",
        f"{lost:,} calls without a step are not drawn." if lost else "",
        f"The first {MAX_RUNS} of {len(runs)} runs; tables/teacher_costs.csv has all." if len(runs) > MAX_RUNS else "",
    )
