"""The truth of simulated curves, told by the trainer that trained them and not by a stitch of its logs."""

import csv
import json
import math
from collections.abc import Iterator
from pathlib import Path

from simulate.curves.logs import Log, place_of
from simulate.curves.metrics import ABSENT, COLLIDING, DEAD, MIXED, SETUP
from simulate.curves.trainer import Arm
from simulate.files import write_csv

RECIPE = [("pack_length", "67584", True), ("response_length", "65536", True), ("pool_size", "512", False)]
"""(config key, value, whether a deviation changes what is learned), as declared in frozen_recipe.csv."""

GUARD_BAND = (0.06, 0.18)


class Truth:
    """Gathers what every curve must be, arm by arm; `write` puts it below `folder`."""

    def __init__(self, folder: Path, with_values: bool):
        self.folder = folder
        self.with_values = with_values
        self.arms: list[list] = []
        self.run_rows: list[list] = []
        self.logs: list[list] = []
        self.deviations: list[list] = []
        self.findings: set[tuple[str, str]] = {("dead_metric", DEAD)}
        folder.mkdir(parents=True)
        self._curves = open(folder / "curves.csv", "w", newline="", encoding="utf-8") if with_values else None  # noqa: SIM115
        if self._curves:
            self._out = csv.writer(self._curves, lineterminator="\n")
            self._out.writerow(["arm", "training_step", "position", "run_id", "metric", "value"])

    def add(self, arm: Arm, logs: list[Log], values: dict[str, list]) -> None:
        """What one arm's curve, rows and findings must be."""
        count, total = 0, []
        for step, ordinal in arm.training_step.items():
            owner = arm.owner[step]
            row = place_of(arm, owner, step)
            position, run_id = row[arm.position_key], arm.starts[owner].run_id
            row |= {name: column[step - 1] for name, column in values.items()}
            if arm.has_setup_rows and step == arm.launches[owner].first_step:
                row |= SETUP
            for name, value in row.items():
                if value is ABSENT:
                    continue
                count += 1
                if isinstance(value, int | float) and math.isfinite(value):
                    total.append(value)
                if self._curves:
                    self._out.writerow([arm.name, ordinal, position, run_id, name, value_text(value)])
        self._add_rows(arm, logs)
        self._add_deviations(arm)
        ratios = list(arm.gap_ratios_before_collapse())
        self.arms.append(
            [
                arm.name,
                len(arm.training_step),
                len({log.run_id for log in logs}),
                len(logs),
                arm.lineage_count,
                arm.median_gap if ratios else None,
                told(bool(arm.unlogged_steps)),
                min((ratio for ratio, is_seam in ratios if not is_seam), default=None),
                max((ratio for ratio, is_seam in ratios if is_seam), default=None),
                sum(len(log.rows) for log in logs),
                count,
                math.fsum(total),
            ]
        )
        self.findings |= set(_findings(arm))

    def _add_deviations(self, arm: Arm) -> None:
        for i, launch in enumerate(arm.launches):
            if launch.joins:
                continue
            config = arm.config | launch.config
            for key, value, affects_learning in RECIPE:
                if key in config and str(config[key]) != value:
                    row = [arm.name, arm.starts[i].run_id, key, config[key], value, told(affects_learning)]
                    self.deviations.append(row)

    def _add_rows(self, arm: Arm, logs: list[Log]) -> None:
        for log in logs:
            self.logs.append([log.directory, log.run_id, len(log.rows), told(log.is_unfinished)])
            for row in log.rows:
                # A row without a position shares the fate of the step that it came before.
                step = row.step or arm.launches[row.launch].first_step
                reason = "duplicate_source" if log.is_duplicate else arm.drop_reason(row.launch, step)
                ordinal = None if reason else arm.training_step[step]
                heir = None if log.is_duplicate else arm.superseded_by(row.launch, step)
                superseded_by = None if heir is None else arm.starts[heir].run_id
                self.run_rows.append([log.run_id, log.directory, row.row_idx, reason or None, ordinal, superseded_by])

    def write(self) -> None:
        """Write all but the curves, which are written as they come, and close those."""
        if self._curves:
            self._curves.close()
        write_csv(
            self.folder / "arms.csv",
            [
                "arm",
                "step_count",
                "run_count",
                "log_count",
                "lineage_count",
                "median_gap",
                "has_step_hole",
                "tightest_kept_gap_ratio",
                "widest_collapsed_gap_ratio",
                "logged_row_count",
                "value_count",
                "finite_value_sum",
            ],
            self.arms,
        )
        write_csv(
            self.folder / "run_rows.csv",
            ["run_id", "log_directory", "row_idx", "drop_reason", "training_step", "superseded_by_run_id"],
            self.run_rows,
        )
        write_csv(self.folder / "logs.csv", ["log_directory", "run_id", "row_count", "is_unfinished"], self.logs)
        write_csv(
            self.folder / "config_deviations.csv",
            ["arm", "run_id", "config_key", "value", "recipe_value", "affects_learning"],
            self.deviations,
        )
        write_csv(self.folder / "findings.csv", ["kind", "subject"], sorted(self.findings))


def value_text(value: object) -> str:
    """A logged value as the truth spells it: null, NaN, Infinity, a number, or JSON text."""
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else json.dumps(value)
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def told(is_so: bool | None) -> str | None:
    """A boolean as the truth spells it; None is unknown."""
    return None if is_so is None else str(is_so).lower()


def _findings(arm: Arm) -> Iterator[tuple[str, str]]:
    """The findings an arm must have, from what was planted in it."""
    alive = [launch for launch in arm.launches if launch.steps and not launch.is_excluded]
    planted = {
        "longer_lineage_not_chosen": any(launch.last_step > len(arm.true_steps) for launch in alive),
        "concurrent_segments": any(launch.is_concurrent for launch in arm.launches),
        "step_hole": bool(arm.unlogged_steps),
        "trainer_step_differs": bool(arm.unlogged_steps and arm.trainer_step_key),
        "arm_running": arm.is_running,
        "unexpected_step_count": not arm.is_running and arm.expected_step_count not in (None, len(arm.training_step)),
        "seam_guard_band": any(GUARD_BAND[0] < ratio < GUARD_BAND[1] for ratio in arm.gap_ratios.values()),
        "arm_without_kept_steps": not alive,
    }
    yield from ((kind, arm.name) for kind, holds in planted.items() if holds)
    for start, launch in zip(arm.starts, arm.launches, strict=True):
        if launch.kept_as == "both":
            yield "sources_disagree", start.run_id
    if arm.has_oddities:
        yield from (("metric_name_collision", f"{start.run_id} {COLLIDING}") for start in arm.starts)
        yield "text_among_numbers", MIXED
