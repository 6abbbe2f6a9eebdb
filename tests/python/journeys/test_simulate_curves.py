"""A simulated campaign holds what it claims to have planted, seen in its files and not in its own truth."""

import csv
import json
from collections import Counter, defaultdict
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import pytest

from homes.errors import SeamlineError
from simulate import campaign
from simulate.campaign import simulate
from simulate.curves import write as curves
from simulate.curves.arms import arms
from simulate.curves.logs import log_parts, logged_rows
from tests.python.support.command import seamline
from tests.python.support.stitch.axes import Declared, Row
from tests.python.support.stitch.axes import Log as LoggedRun
from tests.python.support.stitch.oracle import stitch
from tests.python.support.wandb.records import items, kind_of, payloads, records


class Log(NamedTuple):
    """What one log says of itself."""

    directory: str
    run_id: str
    run_name: str
    config: dict
    rows: list[dict]
    has_exit: bool
    is_cut: bool


def read(path: Path) -> Log:
    found = records(path)
    run = next((record.run for record in found if kind_of(record) == "run"), None)
    rows = []
    for record in found:
        if kind_of(record) == "history":
            rows.append({".".join(key): json.loads(text) for key, text in items(record)})
    return Log(
        path.parent.name,
        run.run_id if run else "",
        run.display_name if run else "",
        {item.key: json.loads(item.value_json) for item in run.config.update} if run else {},
        rows,
        any(kind_of(record) == "exit" for record in found),
        payloads(path.read_bytes())[1],
    )


def read_logs(folder: Path) -> list[Log]:
    return [read(path) for path in sorted(folder.glob("wandb/run-*/*.wandb"))]


def read_export(path: Path) -> Log:
    note = json.loads((path.parent / "run.json").read_text())
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    return Log(path.parent.name, note["id"], note["name"], note["config"], rows, note["state"] == "finished", False)


def truth(folder: Path, name: str) -> list[dict]:
    with open(folder / "truth" / f"{name}.csv", newline="") as handle:
        return list(csv.DictReader(handle))


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("simulated") / "small"
    curves.write(folder, "small", 3)
    return folder


@pytest.fixture(scope="module")
def small_logs(small: Path) -> list[Log]:
    return read_logs(small)


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_the_same_seed_gives_the_same_bytes_and_another_seed_others(small: Path, tmp_path: Path) -> None:
    curves.write(tmp_path / "again", "small", 3)
    curves.write(tmp_path / "other", "small", 4)
    assert contents(tmp_path / "again") == contents(small)
    assert contents(tmp_path / "other") != contents(small)


def test_a_whole_campaign_replaces_an_earlier_one_with_the_same_bytes(tmp_path: Path) -> None:
    simulate(tmp_path / "campaign", "small", 3)
    first = contents(tmp_path / "campaign")
    simulate(tmp_path / "campaign", "small", 3)
    assert contents(tmp_path / "campaign") == first


def test_every_shape_of_log_is_there(small_logs: list[Log]) -> None:
    assert any(not log.rows and log.run_id for log in small_logs), "a run that died before its first row"
    assert any(not log.run_id for log in small_logs), "a header alone"
    assert any(log.is_cut for log in small_logs), "a log cut inside a record"
    assert any(log.has_exit for log in small_logs) and any(not log.has_exit for log in small_logs)
    by_run = defaultdict(list)
    for log in small_logs:
        by_run[log.run_id].append(log)
    resumed = [logs for logs in by_run.values() if len(logs) > 1 and logs[0].run_id]
    assert resumed and all(log.rows[0]["_step"] == 0 for logs in resumed for log in logs)
    names = Counter(logs[0].run_name for logs in by_run.values())
    assert any(count > 1 for name, count in names.items() if "__42__" in name), "two runs of one display name"


def test_every_kind_of_value_is_there(small_logs: list[Log]) -> None:
    logged = [value for log in small_logs for row in log.rows for value in row.values()]
    assert {"nan", "inf", "-inf"} <= {str(value) for value in logged if isinstance(value, float)}
    assert None in logged and "timeout" in logged and any(isinstance(v, int) and v > 2**53 for v in logged)
    dead = [
        row["objective/verifiable_reward"]
        for log in small_logs
        for row in log.rows
        if "objective/verifiable_reward" in row
    ]
    assert len(dead) > 400 and set(dead) == {0}
    scalars = [sum(len(row) == 5 for row in log.rows) for log in small_logs]
    assert max(scalars) > 100, "one scalar a row, with the position and three keys of W&B's own"
    assert any("global_step" not in row and "setup/vocabulary_tokens" in row for log in small_logs for row in log.rows)


def test_seams_need_truncation_and_collapse(small: Path, small_logs: list[Log]) -> None:
    """Worked out by hand from the positions the logs of one arm hold: three runs, seams after steps 12 and 24."""
    logs = [log for log in small_logs if log.config.get("exp_name") == "prefilter-4b"]
    first, second, third = [[row["global_step"] for row in log.rows] for log in logs]
    assert logs[0].rows[13]["scores"] != logs[1].rows[1]["scores"], "what was redone came out otherwise"
    assert (len(first), len(second), len(third)) == (17, 15, 16)
    assert second[0] - first[12] == 60, "the redone step 13 was counted 60 episodes later"
    assert first[13] > second[0], "and step 14 was rolled back"
    assert third[0] < second[12], "the second resume went below what it redid"
    gaps = Counter(b - a for a, b in pairwise(third))
    assert gaps.most_common(1)[0][0] == 1024 and min(gaps) == 192
    labels = Counter(
        row["drop_reason"]
        for row in truth(small, "run_rows")
        if row["run_id"] in {log.run_id for log in small_logs if log.config.get("exp_name") == "prefilter-4b"}
    )
    assert labels == {"": 40, "seam_collapsed": 1, "rolled_back": 4 + 3}


def test_the_truth_of_a_kept_row_is_in_the_log_it_names(small: Path, small_logs: list[Log]) -> None:
    exports = [read_export(path) for path in small.glob("wandb/exports/*/history.jsonl")]
    assert len(exports) == 1 and exports[0].run_id not in {log.run_id for log in small_logs}
    rows = {(log.directory, row["_step"]): row for log in [*small_logs, *exports] for row in log.rows}
    curves = defaultdict(dict)
    for line in truth(small, "curves"):
        curves[line["run_id"], line["training_step"]][line["metric"]] = line
    checked = 0
    for line in truth(small, "run_rows"):
        if line["drop_reason"]:
            assert line["training_step"] == ""
            continue
        row = rows[line["log_directory"], int(line["row_idx"])]
        told = curves[line["run_id"], line["training_step"]]
        if row.keys().isdisjoint(("global_step", "training/global_step")):
            continue  # it has the position of the step that it came before
        position = told["scores"]["position"]
        assert int(position) in (row.get("global_step"), row.get("training/global_step"))
        if "scores" in row:
            assert float(told["scores"]["value"]) == row["scores"]
            checked += 1
    assert checked == sum(int(arm["step_count"]) for arm in truth(small, "arms"))


def test_an_early_export_repeats_a_run_that_has_its_log(small: Path, small_logs: list[Log]) -> None:
    (export,) = small.glob("wandb/exports/by-run/*/*.csv")
    (log,) = [log for log in small_logs if log.run_id == export.stem]
    with open(export, newline="") as handle:
        rows = list(csv.DictReader(handle))
    assert [int(row["global_step"]) for row in rows] == [row["global_step"] for row in log.rows[: len(log.rows) // 2]]


def test_declared_facts_match_the_logs(small: Path, small_logs: list[Log]) -> None:
    with open(small / "declared" / "frozen_recipe.csv", newline="") as handle:
        recipe = {row["config_key"]: row["value"] for row in csv.DictReader(handle)}
    assert recipe["pack_length"] == "67584"
    deviating = {log.run_id for log in small_logs if log.config.get("pack_length") == 40960}
    assert deviating == {r["run_id"] for r in truth(small, "config_deviations") if r["config_key"] == "pack_length"}
    assert {log.config["exp_name"] for log in small_logs if log.run_id in deviating} == {"prefilter-sft8b"}
    with open(small / "declared" / "run_exclusions.csv", newline="") as handle:
        (exclusion,) = csv.DictReader(handle)
    assert (exclusion["arm"], exclusion["logged_until"]) == ("prefilter-sft8b", "2026-09-22 20:14:00")
    cutoff = 1_790_108_040
    before = [row for log in small_logs if log.run_id in deviating for row in log.rows if row["_timestamp"] < cutoff]
    excluded = [row for row in truth(small, "run_rows") if row["drop_reason"] == "excluded"]
    assert len(before) == len(excluded) == 12


def test_the_card_has_the_cards_facts() -> None:
    """13 arms, 60 runs (17 of one arm), ten arms at 500 steps, ratios 0.059 and 0.188: as a published campaign had."""
    planned = arms("card", 0)
    assert len(planned) == 13
    runs = {arm.name: len({start.run_id for start in arm.starts}) for arm in planned}
    assert sum(runs.values()) == 60 and runs["prefilter-27b"] == 17
    assert sorted(a.name for a in planned if a.is_running) == ["prefilter-27b", "prefilter-2b", "prefilter-sft8b"]
    assert [len(a.training_step) for a in planned if not a.is_running] == [500] * 10
    kept = [ratio for a in planned for ratio, is_seam in a.gap_ratios_before_collapse() if not is_seam]
    collapsed = [ratio for a in planned for ratio, is_seam in a.gap_ratios_before_collapse() if is_seam]
    assert round(min(kept), 3) == 0.188 and round(max(collapsed), 3) == 0.059
    facet = next(a for a in planned if a.name == "facet").true_positions
    assert (facet[1], facet[500]) == (320, 556_864)
    redone = next(a for a in planned if a.name == "prefilter-4b")
    assert len({p for counted in redone.positions for p in counted.values()}) == 523


def test_a_folder_that_is_no_simulation_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(SeamlineError, match="not empty"):
        simulate(tmp_path, "small", 0)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_what_was_put_into_a_simulation_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(campaign, "DOMAINS", [curves.write])
    simulate(tmp_path / "campaign", "1", 0)
    (tmp_path / "campaign" / "home").mkdir()
    with pytest.raises(SeamlineError, match="home"):
        simulate(tmp_path / "campaign", "1", 0)
    assert (tmp_path / "campaign" / "home").exists()


def test_the_scale_bench_writes_rollouts_as_long_as_real_ones(tmp_path: Path) -> None:
    simulate(tmp_path / "x", "bench", 0)
    assert sorted(path.name for path in (tmp_path / "x").iterdir()) == [".seamline-simulation", "rollouts"]
    (shard,) = tmp_path.glob("x/rollouts/*_rollouts_*.jsonl")
    with open(shard) as lines:
        assert 18_000 <= len(json.loads(next(lines))["response_tokens"]) <= 22_000


@pytest.mark.parametrize("scale", ["huge", "0", "-1", "1.5", "", "²"])
def test_a_scale_that_is_none_is_refused(scale: str, tmp_path: Path) -> None:
    with pytest.raises(SeamlineError, match="say small, card, shapes, bench or a number"):
        simulate(tmp_path / "x", scale, 0)
    assert not (tmp_path / "x").exists()


def test_the_command_says_where_the_truth_is(tmp_path: Path) -> None:
    done = seamline("simulate", tmp_path / "one", "--seed", "7")
    assert str(tmp_path / "one" / "truth") in done.stdout and (tmp_path / "one" / "truth" / "curves.csv").exists()
    refused = seamline("simulate", tmp_path / "one", "--scale", "vast", check=False)
    assert refused.returncode == 1 and "say small, card, shapes, bench or a number" in refused.stderr


def test_a_number_makes_that_many_arms_of_five_runs(tmp_path: Path) -> None:
    curves.write(tmp_path / "three", "3", 0)
    assert [(arm["run_count"], arm["step_count"]) for arm in truth(tmp_path / "three", "arms")] == [("5", "450")] * 3
    assert not (tmp_path / "three" / "truth" / "curves.csv").exists()


@pytest.mark.parametrize("scale", ["small", "card", "12"])
@pytest.mark.parametrize("seed", range(6))
def test_what_the_trainer_knows_is_what_the_stitch_must_find(scale: str, seed: int) -> None:
    """The truth comes from who redid what; an oracle that knows positions and times alone comes to the same labels."""
    for arm in arms(scale, seed):
        logs, known = [], []
        for i, launch in enumerate(arm.launches):
            if launch.joins == "log":
                continue
            rows = list(logged_rows(arm, log_parts(arm, i), {}))
            start = arm.starts[i]
            known += [((start.log_directory, row_idx), row) for row_idx, (row, _, _) in enumerate(rows)]
            # a metric on every step: launches of one arm log the same, so that they are one track
            timed = [Row(None, at, values | ({} if row.step is None else {"scores": 1.0})) for row, at, values in rows]
            logs.append(LoggedRun(start.log_directory, start.run_id, timed, started_at=start.started_at))
        declared = Declared(
            assignments=[("run_id", start.run_id, arm.name) for start in arm.starts],
            exclusions=[
                (start.run_id, None, None, None)
                for start, launch in zip(arm.starts, arm.launches, strict=True)
                if launch.is_excluded
            ],
        )
        found = stitch(logs, declared).rows
        for place, row in known:
            step = row.step or arm.launches[row.launch].first_step  # a row without the key shares its step's fate
            expected = arm.drop_reason(row.launch, step) or None
            assert found[place].drop_reason == expected, (arm.name, row)
            ordinal = None if expected else arm.training_step[step]
            assert found[place].training_step == ordinal, (arm.name, row)
