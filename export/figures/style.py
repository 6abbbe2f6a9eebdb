"""How every figure looks: palette, sizes, and the few shapes that several figures share."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

import altair as alt
import duckdb

from export.tables import Row, read_rows

BLUE, VERMILLION, GREEN, PINK, SKY, ORANGE = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00"
PALETTE = [BLUE, ORANGE, GREEN, VERMILLION, SKY, PINK]
"""Okabe and Ito's colours (2008), which people with any colour vision tell apart; black and yellow left out, because
one of them vanishes on each background."""
GREY = "#7A7F87"
SHAPES = ["circle", "square", "triangle-up", "diamond", "triangle-down", "cross"]

MAX_PANELS = 60
MAX_POINTS = 600
"""More panels than this in one picture, or points in one panel, can't be told apart in print."""

FONT = "Liberation Sans"
"""The renderer brings it along, so that a picture is the same on every machine."""

_TEXT = {"font": FONT, "fontWeight": "normal"}
_LABELS = {"labelFont": FONT, "titleFont": FONT, "labelFontWeight": "normal", "titleFontWeight": "normal"}
CONFIG = {
    "background": "white",
    "font": FONT,
    "padding": 14,
    "title": {
        "anchor": "start",
        "fontSize": 17,
        "subtitleFontSize": 12,
        "subtitleFontWeight": "normal",
        "subtitleFont": FONT,
        "subtitleColor": "#4A4F57",
        "offset": 14,
        "subtitlePadding": 5,
        **_TEXT,
    },
    "axis": {
        "labelFontSize": 10.5,
        "titleFontSize": 11.5,
        "titlePadding": 8,
        "gridColor": "#E4E6EA",
        "domainColor": "#9AA0A8",
        "tickColor": "#9AA0A8",
        "labelColor": "#3B4048",
        "titleColor": "#3B4048",
        **_LABELS,
    },
    "header": {"labelFontSize": 11.5, "labelAnchor": "start", "labelLimit": 260, "labelPadding": 4, **_LABELS},
    "legend": {"labelFontSize": 11, "titleFontSize": 11, "labelLimit": 240, "symbolStrokeWidth": 2, **_LABELS},
    "text": _TEXT,
    "view": {"stroke": None},
    "facet": {"spacing": 22},
    "concat": {"spacing": 26},
    "range": {"category": PALETTE},
}


def rows(warehouse: duckdb.DuckDBPyConnection, sql: str) -> list[Row]:
    """A query's rows as JSON can hold them: NaN and infinities become null, times ISO 8601 in UTC."""
    return [{name: _plain(value) for name, value in row.items()} for row in read_rows(warehouse, sql)]


def _plain(value: object) -> object:
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return None
    if isinstance(value, datetime):
        return value.replace(tzinfo=value.tzinfo or UTC).isoformat().replace("+00:00", "Z")
    return value


def data(values: list[Row]) -> alt.InlineData:
    """Rows as a chart's data. Every key stands in the first row, also where it is null."""
    return alt.InlineData(values=values)


def titled(chart: alt.TopLevelMixin, title: str, *notes: str) -> alt.TopLevelMixin:
    """The chart with a title and, below it, what a reader must know to read it."""
    said = [note for note in notes if note]
    return chart.properties(title=alt.TitleParams(title, subtitle=said or alt.Undefined))


def panels(layers: Sequence[alt.Chart], values: list[Row], by: str, per_panel_y: bool = False) -> alt.FacetChart:
    """One panel for each value of the field `by`, all with the same axes (`per_panel_y`: the y-axis apart)."""
    count = len({row[by] for row in values})
    columns, width, height = (1, 640, 300) if count == 1 else (2, 360, 190) if count <= 4 else (4, 205, 118)
    layer = alt.layer(*layers).properties(width=width, height=height)
    chart = layer.facet(facet=alt.Facet(f"{by}:N", title=None), columns=columns, data=data(values))
    return chart.resolve_scale(y="independent") if per_panel_y else chart


def first_panels(values: list[Row], by: str, rest: str) -> tuple[list[Row], str]:
    """The rows of the first MAX_PANELS values of `by`, and a note where that is not all; `rest` says where all are."""
    names = list(dict.fromkeys(row[by] for row in values))
    if len(names) <= MAX_PANELS:
        return values, ""
    shown = set(names[:MAX_PANELS])
    return [row for row in values if row[by] in shown], f"The first {MAX_PANELS} of {len(names)}; {rest} has all."


def thinned(values: list[Row], by: str, keep: str | None = None) -> tuple[list[Row], str]:
    """At most about MAX_POINTS rows a panel, evenly taken, and a note that says so where some are left out.

    Rows whose field `keep` is true stay, whatever their place.
    """
    counts: dict[object, int] = {}
    for row in values:
        counts[row[by]] = counts.get(row[by], 0) + 1
    stride = -(-max(counts.values(), default=0) // MAX_POINTS)
    if stride <= 1:
        return values, ""
    place: dict[object, int] = {}
    kept = []
    for row in values:
        place[row[by]] = place.get(row[by], -1) + 1
        if place[row[by]] % stride == 0 or place[row[by]] == counts[row[by]] - 1 or (keep and row[keep]):
            kept.append(row)
    return kept, f"Drawn: every {_ordinal(stride)} point; the tables hold all."


def _ordinal(number: int) -> str:
    teen = 10 <= number % 100 <= 20
    return f"{number}{'th' if teen else {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th')}"


def labels(names: Mapping[str, str]) -> alt.Scale:
    """A colour scale with a fixed colour for each name."""
    return alt.Scale(domain=list(names), range=list(names.values()))
