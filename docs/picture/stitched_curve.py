"""Draws docs/picture/stitched-curve.svg from the demo's home: `.venv/bin/python -m docs.picture.stitched_curve`."""

from pathlib import Path

import altair as alt
import vl_convert

from export.figures.curves import LABELS
from export.figures.style import BLUE, CONFIG, data, labels, rows
from homes.paths import find_home
from homes.warehouse import open_warehouse

TARGET = Path(__file__).parent.joinpath("stitched-curve.svg")
ARM = "prefilter-27b"
SCORES = f"""
    select
        run_rows.position,
        run_rows.segment_number,
        run_rows.training_step,
        history_values.value,
        'run ' || run_rows.run_id as run,
        coalesce(replace(run_rows.drop_reason, '_', ' '), 'kept') as label
    from run_rows
    inner join landing.history_values
        on run_rows.log_id = history_values.source_name and run_rows.row_idx = history_values.row_idx
    where run_rows.arm = '{ARM}' and history_values.metric = 'scores'
    order by run_rows.segment_number, run_rows.position
"""


def main() -> None:
    with open_warehouse(find_home(None)) as warehouse:
        found = rows(warehouse, SCORES)
    used = {name: tone for name, tone in LABELS.items() if any(row["label"] == name for row in found)}
    color = alt.Color("label:N", scale=labels(used), legend=alt.Legend(title=None, orient="top", symbolSize=70))
    x = alt.X("position:Q", title="position (episodes)", axis=alt.Axis(grid=False, tickCount=6, format="~s"))
    unnamed_x = alt.X("position:Q", title=None, axis=alt.Axis(grid=False, tickCount=6, labels=False))
    y = alt.Y("value:Q", title="scores", axis=alt.Axis(tickCount=4))
    kept, dropped = alt.datum.label == "kept", alt.datum.label != "kept"
    base = alt.Chart().encode(x=unnamed_x, y=y)
    curve = alt.layer(
        base.transform_filter(kept).mark_line(color=BLUE, strokeWidth=2).encode(order="training_step:Q"),
        base.transform_filter(dropped).mark_line(strokeWidth=1.2).encode(color=color, detail="segment_number:N"),
        base.transform_filter(dropped).mark_point(filled=True, size=26, opacity=1).encode(color=color),
    ).properties(width=660, height=210)
    place = alt.Y("segment_number:O", title="segment", axis=alt.Axis(ticks=False, domain=False))
    strip = (
        alt.Chart()
        .mark_point(filled=True, size=42, opacity=1, shape="square")
        .encode(x=x, y=place, color=color)
        .properties(width=660, height=120)
    )
    runs = len({row["run"] for row in found})
    title = alt.TitleParams(
        "One curve out of crashes and resumes",
        subtitle=f"The arm {ARM} of the demo: {runs} W&B runs, {len(found)} logged rows, each kept or labelled.",
    )
    chart = alt.vconcat(curve, strip, data=data(found), spacing=8, title=title).resolve_scale(x="shared")
    spec = chart.properties(config=CONFIG).to_dict()
    TARGET.write_text(vl_convert.vegalite_to_svg(spec), encoding="utf-8")
    print(TARGET)


if __name__ == "__main__":
    main()
