"""What one would write instead: the same curves from the same landed Parquet, in a plain pandas script.

It reads what `seamline ingest wandb` landed and the declared exclusions, and writes one CSV per arm. It keeps no
labels, so nothing it drops can be audited, and it can't tell a logged NaN from an empty cell.
"""

import json
import re
import sys
from pathlib import Path

import pandas as pd
import pyarrow.compute as pc
import pyarrow.parquet as pq

from homes.names import file_stems

POSITION_KEYS = ["global_step", "train/global_step", "training/global_step", "training_step", "_step"]
SEAM_RATIO = 0.10
RESUME_REACH_GAPS = 2


def stitch(landing: Path, declared: Path, target: Path) -> int:
    """Write `target/<arm>.csv`; returns the number of arms written."""
    logs = pq.read_table(landing / "history_logs").to_pandas()
    config = pq.read_table(landing / "history_config").to_pandas()
    history = pq.read_table(landing / "history_values", columns=["source_name", "row_idx", "metric", "value"])
    # Nulls go here, while Arrow still tells them from NaN.
    history = history.filter(pc.is_valid(history["value"])).to_pandas()
    rows = pq.read_table(landing / "history_rows", columns=["source_name", "row_idx", "logged_at"]).to_pandas()
    logs["arm"] = arms_of(logs, config)
    rows = rows.merge(logs[["source_name", "run_id", "arm"]], on="source_name")
    exclusions = pd.read_csv(declared / "run_exclusions.csv", parse_dates=["logged_from", "logged_until"])
    for rule in exclusions.itertuples():
        hit = pd.Series(True, index=rows.index)
        if isinstance(rule.run_id, str):
            hit &= rows["run_id"] == rule.run_id
        if isinstance(rule.arm, str):
            hit &= rows["arm"] == rule.arm
        if not pd.isna(rule.logged_from):
            hit &= rows["logged_at"] >= rule.logged_from
        if not pd.isna(rule.logged_until):
            hit &= rows["logged_at"] < rule.logged_until
        rows = rows[~hit]
    target.mkdir(parents=True)
    stems = file_stems(rows["arm"])
    history_of = dict(list(history.groupby("source_name")))
    for arm, arm_rows in rows.groupby("arm"):
        logged = pd.concat([history_of[name] for name in arm_rows["source_name"].unique() if name in history_of])
        keys = set(logged["metric"].unique())
        key = next(key for key in POSITION_KEYS if key in keys)
        positions = logged.loc[logged["metric"] == key, ["source_name", "row_idx", "value"]]
        placed = arm_rows.merge(positions.rename(columns={"value": "position"}), on=["source_name", "row_idx"])
        kept = keep(placed.sort_values(["source_name", "row_idx"]))
        kept = kept.merge(logged[~logged["metric"].str.startswith("_")], on=["source_name", "row_idx"])
        kept = kept.sort_values("row_idx").drop_duplicates(["training_step", "metric"], keep="last")
        lead = kept.drop_duplicates("training_step").set_index("training_step").sort_index()
        lead = lead[["step_position", "run_id"]].rename(columns={"step_position": "position"})
        wide = kept.pivot(index="training_step", columns="metric", values="value")
        wide = wide.rename(columns={"training_step": "logged_training_step"})
        lead.join(wide).to_csv(target / f"{stems[arm]}.csv")
    return len(stems)


def arms_of(logs: pd.DataFrame, config: pd.DataFrame) -> list[str]:
    """The arm of each log: exp_name, else the run name without its tail, else the group, else the run name."""
    names = config[config["config_key"] == "exp_name"].set_index("source_name")["value_json"].map(json.loads)
    arms = []
    for log in logs.itertuples():
        tail = re.fullmatch(r"(.+)__-?\d+__\d+", log.run_name or "")
        arms.append(names.get(log.source_name) or (tail and tail[1]) or log.run_group or log.run_name)
    return arms


def keep(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows of one arm that stand, with the training_step and position of their step."""
    rows = rows.copy()
    back = rows.groupby("source_name")["position"].diff() < 0
    rows["stretch"] = back.groupby(rows["source_name"]).cumsum()
    segments = (
        rows.groupby(["source_name", "stretch"], as_index=False)
        .agg(
            run_id=("run_id", "first"),
            started=("logged_at", "first"),
            low=("position", "min"),
            high=("position", "max"),
        )
        .sort_values(["started", "run_id", "source_name"])
        .reset_index(drop=True)
    )
    segments["segment"] = segments.index
    rows = rows.merge(segments[["source_name", "stretch", "segment"]], on=["source_name", "stretch"])
    steps = rows[["segment", "position"]].drop_duplicates().sort_values(["segment", "position"])
    reach = RESUME_REACH_GAPS * steps.groupby("segment")["position"].diff().median()
    chain = [len(segments) - 1]
    while chain:
        start = segments.low[chain[0]]
        earlier = segments[: chain[0]]
        parents = earlier.index[(earlier.low < start) & (earlier.high >= start - reach)]
        if len(parents) == 0:
            break
        chain.insert(0, parents[-1])
    standing = []
    until = float("inf")
    for segment in reversed(chain):
        standing.append(steps[(steps["segment"] == segment) & (steps["position"] < until)])
        until = min(until, segments.low[segment])
    steps = pd.concat(standing).sort_values(["position", "segment"])
    gap = steps["position"].diff()
    steps["training_step"] = (~(gap / gap.median() < SEAM_RATIO)).cumsum()
    steps = steps.sort_values(["segment", "position"]).drop_duplicates("training_step", keep="last")
    rows = rows.merge(steps, on=["segment", "position"])
    return rows.rename(columns={"position": "step_position"})[
        ["source_name", "row_idx", "run_id", "training_step", "step_position"]
    ]


if __name__ == "__main__":
    stitch(*map(Path, sys.argv[1:]))
