"""Figures: their numbers are the marts', they are whole, the same bytes each time, and say what they leave out."""

import hashlib
import math
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import altair as alt
import duckdb
import numpy as np
import pypdfium2
import pytest
from jsonschema import ValidationError
from PIL import Image

from export.figures import draw as figures
from export.figures import style as chart_style

DOMAINS = {figure.domain for figure in figures.FIGURES}


FIGURES = {figure.stem: figure for figure in figures.FIGURES}


@pytest.fixture(scope="module")
def warehouse(demo: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect(str(demo / "warehouse.duckdb"), read_only=True) as connection:
        yield connection


@pytest.fixture(scope="module")
def specs(warehouse: duckdb.DuckDBPyConnection) -> dict[str, dict]:
    return {figure.stem: spec for figure, spec in figures.specs(warehouse, DOMAINS).items()}


@pytest.fixture
def emptied(warehouse: duckdb.DuckDBPyConnection, demo: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """Every mart of the demo without a row."""
    names = [
        n for (n,) in warehouse.execute("select table_name from duckdb_tables() where schema_name = 'main'").fetchall()
    ]
    with duckdb.connect() as connection:
        connection.execute(f"attach '{demo / 'warehouse.duckdb'}' as demo (read_only)")
        for name in names:
            connection.execute(f'create table "{name}" as from demo.main."{name}" limit 0')
        yield connection


def plotted(spec: dict) -> list[dict]:
    """Every row that a chart draws from."""
    return [row for rows in spec["datasets"].values() for row in rows]


def told(spec: dict) -> str:
    subtitle = spec["title"].get("subtitle", [])
    return subtitle if isinstance(subtitle, str) else " ".join(subtitle)


def test_every_figure_is_valid_vega_lite(specs):
    """Drawing leaves out this check, which looks at every row of the data."""
    for spec in specs.values():
        alt.VConcatChart.validate(spec, {"$ref": "#/definitions/TopLevelSpec"})
    broken = specs["learning_curves"] | {"mark": {"type": "no such mark"}, "spec": None}
    with pytest.raises(ValidationError):
        alt.VConcatChart.validate(broken, {"$ref": "#/definitions/TopLevelSpec"})


MARTS = {
    "learning_curves": (
        ["arm", "training_step", "position", "value"],
        """from arm_steps join arm_metrics using (arm, training_step) join arms using (arm)
        where metric = headline_metric""",
    ),
    "gpu_memory": (["run_id", "gpu_idx", "started_after_hours", "max_memory_allocated_bytes"], "from gpu_intervals"),
    "gpu_busy": (["run_id", "gpu_idx", "started_after_hours", "mean_busy_fraction"], "from gpu_intervals"),
    "assistant_tokens_per_turn": (["arm", "training_step", "assistant_tokens_per_turn"], "from arm_turns"),
    "malformed_tool_calls": (
        ["arm", "first_training_step", "last_training_step", "malformed_fraction"],
        "from malformed_tool_calls",
    ),
    "zero_run_calibration": (["min_run_tokens", "matching_fraction", "is_used"], "from zero_run_calibration"),
    "teacher_cost_by_role": (
        ["run_id", "step", "role", "known_cost_usd", "unknown_cost_call_count"],
        "from teacher_costs where step is not null",
    ),
    "score_over_hour": (
        ["cell", "suite", "model_id", "hour", "score", "baseline_score"],
        """from checkpoint_scores join checkpoints using (model_id, cell) join cells using (cell)
        where score is not null and hour is not null and is_plotted and is_valid""",
    ),
    "score_over_tokens": (
        ["cell", "suite", "model_id", "driver_tokens_at_hour", "score"],
        """from checkpoint_scores join checkpoints using (model_id, cell) join cells using (cell)
        where score is not null and driver_tokens_at_hour is not null and is_plotted and is_valid""",
    ),
    "cost_per_point": (
        ["cell", "suite", "model_id", "cost_per_point"],
        "from checkpoint_scores join cells using (cell) where cost_per_point is not null and is_plotted",
    ),
}
"""What a figure must draw: columns, and the marts' rows that hold them."""


@pytest.mark.parametrize("stem", MARTS)
def test_the_numbers_drawn_are_the_marts(stem, specs, warehouse):
    columns, source = MARTS[stem]
    expected = warehouse.execute(f"select {', '.join(columns)} {source}").fetchall()
    drawn = [tuple(row[column] for column in columns) for row in plotted(specs[stem])]
    assert len(drawn) == len(expected) > 3
    assert sorted(drawn, key=repr) == sorted(expected, key=repr)


def test_windows_and_tasks_drawn_are_the_marts(specs, warehouse):
    rows = plotted(specs["validity_by_step"])
    tasks = {(r["run_id"], r["step"], r["task"], r["valid_fraction"]) for r in rows if "task" in r}
    assert tasks == set(warehouse.execute("select run_id, step, task, valid_fraction from task_validity").fetchall())
    columns = ["run_id", "window_name", "first_step", "last_step", "valid_fraction", "valid_fraction_low",
               "valid_fraction_high", "threshold_valid_count", "passes"]  # fmt: skip
    windows = {tuple(r[c] for c in columns) for r in rows if "window_name" in r}
    assert windows == set(warehouse.execute(f"select {', '.join(columns)} from validity_windows").fetchall()) != set()


def test_every_logged_step_lies_in_a_stretch_of_its_label(specs, warehouse):
    rows = plotted(specs["rollback_audit"])
    steps = warehouse.execute(
        "select arm, segment_number, position, coalesce(replace(drop_reason, '_', ' '), 'kept'), row_count "
        "from logged_steps where arm in (select arm from arms where not is_diagnostic)"
    ).fetchall()
    assert sum(row["logged_step_count"] for row in rows) == len(steps) > 100
    assert sum(row["row_count"] for row in rows) == sum(step[4] for step in steps)
    for arm, segment, position, label, _ in steps:
        around = [
            row["label"]
            for row in rows
            if (row["arm"], row["segment_number"]) == (arm, segment)
            and row["first_position"] <= position <= row["last_position"]
        ]
        assert around == [label]
    assert {row["label"] for row in rows} >= {"kept", "rolled back", "seam collapsed"}


def test_labelled_rows_drawn_add_up_to_the_rows_of_each_arm(specs, warehouse):
    totals: dict[str, int] = {}
    for row in plotted(specs["row_labels"]):
        totals[row["arm"]] = totals.get(row["arm"], 0) + row["row_count"]
    formal = "select arm, count(*) from run_rows join arms using (arm) where not is_diagnostic group by arm"
    assert totals == dict(warehouse.execute(formal).fetchall())


def test_seams_are_where_the_run_changes(specs, warehouse):
    drawn = {(r["arm"], r["training_step"]) for r in plotted(specs["learning_curves"]) if r["is_seam"]}
    steps = warehouse.execute(
        """select arm, training_step, segment_number from arm_steps
        where arm in (select arm from arm_metrics join arms using (arm) where metric = headline_metric) order by 1, 2"""
    ).fetchall()
    pairs = pairwise(steps)
    assert drawn == {b[:2] for a, b in pairs if a[0] == b[0] and a[2] != b[2]} != set()


def test_floors_are_hollow_and_say_so(specs):
    spec = specs["score_over_hour"]
    broken = [row for row in plotted(spec) if row["packaging"].startswith("a floor")]
    assert broken
    layer = spec["vconcat"][0]["spec"]["layer"][-1]["encoding"]
    fill = dict(zip(layer["fill"]["scale"]["domain"], layer["fill"]["scale"]["range"], strict=True))
    assert {name: tone for name, tone in fill.items() if tone == "transparent"}.keys() == {
        name for name in fill if not name.startswith("stops")
    }


@pytest.mark.parametrize("stem", FIGURES)
def test_every_figure_of_the_demo_is_a_picture(stem, demo):
    folder = demo / "exports" / "figures"
    with Image.open(folder / f"{stem}.png") as image:
        tones = image.convert("L").histogram()
        assert image.width > 500 and image.height > 300
    document = pypdfium2.PdfDocument(folder / f"{stem}.pdf")
    page = document[0].render().to_pil().convert("L").histogram()
    for histogram in (tones, page):
        ink = 1 - histogram[255] / sum(histogram)
        assert 0.005 < ink < 0.6  # neither blank nor black
    text = document[0].get_textpage().get_text_range()
    assert FIGURES[stem].title in text


def test_axes_tell_units_and_index_base(specs):
    def titles(node: object) -> Iterator[str]:
        if isinstance(node, dict):
            for channel in ("x", "y"):
                if isinstance(node.get(channel), dict) and "field" in node[channel]:
                    yield node[channel].get("title") or ""
            for value in node.values():
                yield from titles(value)
        elif isinstance(node, list):
            for value in node:
                yield from titles(value)

    found = {stem: set(titles({k: v for k, v in spec.items() if k != "datasets"})) for stem, spec in specs.items()}
    for stem in ("learning_curves", "assistant_tokens_per_turn", "malformed_tool_calls"):
        assert "training step (from 1)" in found[stem]
    assert "allocated (GiB)" in found["gpu_memory"]
    assert "known cost (USD)" in found["teacher_cost_by_role"]
    assert "hours into the run" in found["score_over_hour"]


def test_nothing_to_draw_is_said_and_not_drawn(emptied, tmp_path):
    section = figures.write(emptied, tmp_path, DOMAINS)
    assert not (tmp_path / "figures").exists()
    for figure in figures.FIGURES:
        assert f"- {figure.title}: {figure.absent}" in section


def grow(connection: duckdb.DuckDBPyConnection, arms: int, steps: int, name: str = "arm") -> None:
    """Arms with so many steps; the run changes at step 7."""
    connection.execute(
        "insert into arms by name select ? || i as arm, 'scores' as headline_metric from range(?) t(i)",
        [f"{name}-", arms],
    )
    connection.execute(
        f"""insert into arm_steps by name
        select arm, s + 1 as training_step, s * 8.0 as position, case when s < 6 then 'a' else 'b' end as run_id,
            case when s < 6 then 1 else 2 end as segment_number, timestamp '2026-01-01' + to_minutes(s) as logged_at
        from arms, range({steps}) t(s)"""
    )
    connection.execute(
        """insert into arm_metrics by name
        select arm, training_step, 'scores' as metric, sqrt(training_step) as value from arm_steps"""
    )
    connection.execute(
        """insert into headline_steps by name
        select arm, 'scores' as metric, training_step, position, logged_at, run_id, sqrt(training_step) as value,
            training_step = 7 as is_seam, training_step = max(training_step) over (partition by arm) as is_last
        from arm_steps"""
    )


def test_long_curves_are_thinned_and_say_so(emptied):
    grow(emptied, 2, 2000)
    spec = figures.specs(emptied, {"curves"})[FIGURES["learning_curves"]]
    assert "every 4th point" in told(spec)
    rows = plotted(spec)
    assert len(rows) <= 2 * (chart_style.MAX_POINTS + 5)
    assert all(row["value"] == math.sqrt(row["training_step"]) for row in rows)  # points, not means
    for arm in ("arm-0", "arm-1"):
        steps = [row["training_step"] for row in rows if row["arm"] == arm]
        assert steps[0] == 1 and steps[-1] == 2000
        assert [row["training_step"] for row in rows if row["arm"] == arm and row["is_seam"]] == [7]


def test_more_arms_than_a_picture_holds_are_said(emptied):
    grow(emptied, 75, 3)
    spec = figures.specs(emptied, {"curves"})[FIGURES["learning_curves"]]
    assert f"The first {chart_style.MAX_PANELS} of 75" in told(spec)
    assert len({row["arm"] for row in plotted(spec)}) == chart_style.MAX_PANELS


def test_hostile_names_lone_points_and_nan_are_drawn(emptied, tmp_path):
    grow(emptied, 1, 1, name="</script><b>'\"\\ & 漢字 \u2028")
    emptied.execute(
        "insert into arm_steps by name select * replace (2 as training_step, 3.0 as position) from arm_steps"
    )
    emptied.execute(
        "insert into arm_metrics by name select * replace (2 as training_step, 'nan'::double as value) from arm_metrics"
    )
    emptied.execute(
        "insert into headline_steps by name "
        "select * replace (2 as training_step, 3.0 as position, 'nan'::double as value) from headline_steps"
    )
    section = figures.write(emptied, tmp_path, {"curves"})
    assert "learning_curves.png" in section
    spec = figures.specs(emptied, {"curves"})[FIGURES["learning_curves"]]
    assert [row["value"] for row in plotted(spec)] == [1.0, None]
    with Image.open(tmp_path / "figures" / "learning_curves.png") as image:
        red, green, blue = np.asarray(image.convert("RGB"), dtype=int).transpose(2, 0, 1)
    assert ((red < 90) & (green < 160) & (blue > 130)).sum() > 10  # a line of one point would not show


def test_pictures_drawn_again_are_the_same_bytes(demo, warehouse, tmp_path):
    figures.write(warehouse, tmp_path, {"rounds", "teacher", "checkpoints"})
    again = sorted((tmp_path / "figures").iterdir())
    assert len(again) == 10
    for path in again:
        before = (demo / "exports" / "figures" / path.name).read_bytes()
        assert hashlib.sha256(path.read_bytes()).digest() == hashlib.sha256(before).digest(), path.name
