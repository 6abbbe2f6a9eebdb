"""Figures of rollouts: tokens per turn, malformed tool calls, how tool output is told from the model's own tokens."""

import altair as alt
import duckdb

from export.figures.style import BLUE, GREY, VERMILLION, data, first_panels, panels, rows, thinned, titled

TOKENS = """
    select arm, training_step, n_split_rollouts, assistant_segments_total, assistant_tokens_per_turn
    from arm_turns
    where assistant_tokens_per_turn is not null
    order by arm, training_step
"""
MALFORMED = """
    select *
    from malformed_tool_calls
    where malformed_fraction is not null
    order by arm, first_training_step
"""
CALIBRATION = "select * from zero_run_calibration where matching_fraction is not null order by min_run_tokens"
STEP = "training step (from 1)"


def tokens_per_turn(warehouse: duckdb.DuckDBPyConnection) -> alt.TopLevelMixin | None:
    """Assistant tokens per turn of each arm over its training steps."""
    found = rows(warehouse, TOKENS)
    if not found:
        return None
    found, cut = first_panels(found, "arm", "the mart `arm_turns`")
    found, note = thinned(found, "arm")
    layer = (
        alt.Chart()
        .mark_line(strokeWidth=1.2, color=BLUE, point=alt.OverlayMarkDef(size=6, color=BLUE))
        .encode(
            x=alt.X("training_step:Q", title=STEP, axis=alt.Axis(tickCount=6, tickMinStep=1)),
            y=alt.Y(
                "assistant_tokens_per_turn:Q",
                title="assistant tokens per turn",
                axis=alt.Axis(tickCount=5),
                scale=alt.Scale(zero=False),
            ),
            tooltip=["arm:N", "training_step:Q", "assistant_tokens_per_turn:Q", "assistant_segments_total:Q"],
        )
    )
    return titled(
        panels([layer], found, "arm"),
        "Assistant tokens per turn",
        "Tokens the model wrote, divided by its turns, over the rollouts of a step. The y-axis does not start at 0.",
        note,
        cut,
    )


def malformed_calls(warehouse: duckdb.DuckDBPyConnection) -> alt.TopLevelMixin | None:
    """Share of rollouts with a malformed tool call, by stretches of training steps."""
    found = rows(warehouse, MALFORMED)
    if not found:
        return None
    found, cut = first_panels(found, "arm", "the mart `malformed_tool_calls`")
    layer = (
        alt.Chart()
        .transform_calculate(begin="datum.first_training_step - 0.5", end="datum.last_training_step + 0.5")
        .mark_bar(color=VERMILLION, stroke="white", strokeWidth=1)
        .encode(
            x=alt.X("begin:Q", title=STEP, axis=alt.Axis(tickCount=6, tickMinStep=1), scale=alt.Scale(nice=False)),
            x2="end:Q",
            y=alt.Y(
                "malformed_fraction:Q", title="fraction of rollouts", axis=alt.Axis(tickCount=5), scale=_unit_scale()
            ),
            y2=alt.Y2Datum(0),
            tooltip=["arm:N", "first_training_step:Q", "last_training_step:Q", "rollout_count:Q", "malformed_count:Q",
                     "malformed_fraction:Q"],
        )
    )  # fmt: skip
    return titled(
        panels([layer], found, "arm"),
        "Malformed tool calls",
        "Rollouts that open a tool call and never close it, or close one that is not open.",
        cut,
    )


def _unit_scale() -> alt.Scale:
    return alt.Scale(domain=[0, 1])


def calibration(warehouse: duckdb.DuckDBPyConnection) -> alt.TopLevelMixin | None:
    """In how many rollouts the blocks found match the calls reported, for each length of a zero run tried."""
    found = rows(warehouse, CALIBRATION)
    if not found:
        return None
    x = alt.X(
        "min_run_tokens:O",
        title="shortest run of zero log-probabilities taken for tool output (tokens)",
        axis=alt.Axis(labelAngle=0),
    )
    y = alt.Y("matching_fraction:Q", title="fraction of rollouts that match", scale=_unit_scale())
    base = alt.Chart(data(found)).encode(
        x=x, y=y, tooltip=["min_run_tokens:O", "rollout_count:Q", "matching_rollout_count:Q",
                                              "matching_fraction:Q"]
    )  # fmt: skip
    bars = base.mark_bar(width=44).encode(
        color=alt.condition("datum.is_used", alt.value(BLUE), alt.value(GREY)),
    )
    text = base.mark_text(dy=-8, fontSize=11, color="#3B4048").encode(
        text=alt.Text("matching_fraction:Q", format=".4f")
    )
    chart = alt.layer(bars, text).properties(width=440, height=260)
    count = max(row["rollout_count"] for row in found)
    return titled(
        chart,
        "Telling tool output from the model's own tokens",
        f"Rollouts (of {count:,}) in which as many blocks are found as calls are reported. Blue: the length in use.",
    )
