"""The figures: one list, drawn as PNG and PDF by `seamline export` and interactively by `seamline report`."""

import os
from collections.abc import Callable, Collection
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import altair as alt
import duckdb
from altair.utils.schemapi import debug_mode

from export.figures import checkpoints as charts_checkpoints
from export.figures import curves as charts_curves
from export.figures import rounds as charts_rounds
from export.figures import turns as charts_turns
from export.figures.pdf import canonical
from export.figures.style import CONFIG

PIXELS_PER_POINT = 2
Spec = dict[str, Any]


@dataclass(frozen=True)
class Figure:
    """`build` makes the chart from the marts, or None where they hold nothing to draw; `absent` says what is missing.

    `about` tells in a sentence what the picture shows, for those who can't see it.
    """

    stem: str
    domain: str
    title: str
    about: str
    absent: str
    build: Callable[[duckdb.DuckDBPyConnection], alt.TopLevelMixin | None]


FIGURES = [
    Figure(
        "learning_curves",
        "curves",
        "Learning curves",
        "The headline metric of every arm over its training steps, one panel an arm, with restarts marked.",
        "no arm has a value of its headline metric; name one in declared/arms.csv",
        charts_curves.learning_curves,
    ),
    Figure(
        "rollback_audit",
        "curves",
        "What the restarts cost",
        "Every segment of every arm along position, coloured by whether its steps were kept, rolled back or collapsed.",
        "no run logged a step",
        charts_curves.rollback_audit,
    ),
    Figure(
        "row_labels",
        "curves",
        "What became of the logged rows",
        "Logged rows of every arm, stacked by what became of them.",
        "no run logged a row",
        charts_curves.row_labels,
    ),
    Figure(
        "gpu_memory",
        "curves",
        "GPU memory",
        "Memory allocated on the GPUs of every arm, in GiB, over its hours.",
        "no log holds samples of GPU memory",
        charts_curves.gpu_memory,
    ),
    Figure(
        "gpu_busy",
        "curves",
        "GPU use",
        "Fraction of time the GPUs of every arm were busy, over its hours.",
        "no log holds samples of GPU use",
        charts_curves.gpu_busy,
    ),
    Figure(
        "assistant_tokens_per_turn",
        "turns",
        "Assistant tokens per turn",
        "Assistant tokens per turn over training steps, one panel an arm.",
        "no rollouts could be split into turns",
        charts_turns.tokens_per_turn,
    ),
    Figure(
        "malformed_tool_calls",
        "turns",
        "Malformed tool calls",
        "Fraction of rollouts with a malformed tool call, by stretches of training steps, one panel an arm.",
        "no rollouts of a model whose tool-call tokens are declared",
        charts_turns.malformed_calls,
    ),
    Figure(
        "zero_run_calibration",
        "turns",
        "Telling tool output from the model's own tokens",
        "Fraction of rollouts in which the blocks found match the calls reported, by shortest run of zeros.",
        "no rollouts report a number of calls",
        charts_turns.calibration,
    ),
    Figure(
        "validity_by_step",
        "rounds",
        "Valid candidates by step",
        "Valid fraction of each task's candidates by step, with the declared windows, their intervals and thresholds.",
        "no candidates",
        charts_rounds.validity,
    ),
    Figure(
        "teacher_cost_by_role",
        "teacher",
        "What the teacher cost",
        "Known cost in US dollars by step and role, and below it the calls whose cost is unknown.",
        "no teacher calls with a step",
        charts_rounds.teacher_costs,
    ),
    Figure(
        "score_over_hour",
        "checkpoints",
        "Scores over time",
        "Scores of every cell's checkpoints over the hours of its run; hollow points are floors.",
        "no scored checkpoint with a known hour",
        charts_checkpoints.score_over_hour,
    ),
    Figure(
        "score_over_tokens",
        "checkpoints",
        "Scores over driver tokens",
        "Scores of every cell's checkpoints over the tokens its driver had used; hollow points are floors.",
        "no scored checkpoint whose driver tokens are known",
        charts_checkpoints.score_over_tokens,
    ),
    Figure(
        "cost_per_point",
        "checkpoints",
        "What a point of gain cost",
        "Driver tokens per point of gain of every cell's checkpoints, on a logarithmic axis.",
        "no score for which a cost may be stated",
        charts_checkpoints.cost_per_point,
    ),
]
"""In the order in which readers look at them."""


def specs(warehouse: duckdb.DuckDBPyConnection, domains: Collection[str]) -> dict[Figure, Spec | None]:
    """The Vega-Lite specification of each figure of the domains, data inlined; None where there is nothing to draw."""
    with debug_mode(False):  # Altair would check every row of the data against its schema, for seconds
        return {figure: _spec(figure.build(warehouse)) for figure in FIGURES if figure.domain in domains}


def _spec(chart: alt.TopLevelMixin | None) -> Spec | None:
    if chart is None:
        return None
    with alt.data_transformers.disable_max_rows():
        return chart.properties(config=CONFIG).to_dict(validate=False)


def write(warehouse: duckdb.DuckDBPyConnection, folder: Path, domains: Collection[str]) -> str:
    """Draw the figures of the domains as `figures/<stem>.png` and `.pdf`; returns the README's section."""
    drawn = specs(warehouse, domains)
    targets = {figure: spec for figure, spec in drawn.items() if spec}
    if targets:
        (folder / "figures").mkdir(parents=True, exist_ok=True)
        _render([(spec, folder / "figures" / figure.stem) for figure, spec in targets.items()])
    lines = ["## Figures\n"]
    for figure in drawn:
        if drawn[figure]:
            lines.append(f"### {figure.title}\n\n![{figure.about}](figures/{figure.stem}.png)\n")
            lines.append(f"[PDF](figures/{figure.stem}.pdf)\n")
    absent = [f"- {figure.title}: {figure.absent}" for figure, spec in drawn.items() if not spec]
    if absent:
        lines += ["Not drawn:\n", *absent, ""]
    return "\n".join(lines)


def _render(jobs: list[tuple[Spec, Path]]) -> None:
    """Draw in processes of their own: each starts the renderer, which takes about as long as drawing a figure."""
    workers = min(len(jobs), os.cpu_count() or 1, 4)
    if workers == 1 or len(jobs) < 4:
        for spec, stem in jobs:
            _draw(spec, stem)
        return
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        list(pool.map(_draw, *zip(*jobs, strict=True)))


def _draw(spec: Spec, stem: Path) -> None:
    """One figure as PNG and PDF. Fonts come with the renderer and nothing is fetched."""
    import vl_convert

    svg = vl_convert.vegalite_to_svg(spec, allowed_base_urls=[])
    stem.with_suffix(".png").write_bytes(vl_convert.svg_to_png(svg, scale=PIXELS_PER_POINT, ppi=72))
    stem.with_suffix(".pdf").write_bytes(canonical(vl_convert.svg_to_pdf(svg)))
