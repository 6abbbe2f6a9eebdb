"""What gpu_intervals makes of a handful of samples, worked out by hand."""

import math
from datetime import datetime, timedelta

from tests.python.support.models import Models

START = datetime(2026, 9, 1, 12)


def _sample(log, idx, minute, **metrics):
    moment = START + timedelta(minutes=minute)
    return [
        {"source_name": log, "sample_idx": idx, "logged_at": moment, "metric": name.replace("_", "."), "value": value}
        for name, value in metrics.items()
    ]


def _log(log, run, kind="log", rows=1):
    return {
        "source_name": log,
        "run_id": run,
        "producer": "wandb",
        "source_kind": kind,
        "run_name": "arm-a__1__1700000000",
        "started_at": START,
        "history_row_count": rows,
    }


def test_samples_become_intervals_of_the_arms_clock(tmp_path):
    models = Models(tmp_path, ["gpu_intervals"])
    logs = [_log("first", "run-1"), _log("again", "run-1", kind="export", rows=0), _log("second", "run-2")]
    models.run(
        {
            "landed_sources": [{"source_name": log["source_name"], "path": "/x"} for log in logs],
            "history_logs": logs,
            "history_system_values": [
                *_sample("first", 0, 0, gpu_0_gpu=90.0, gpu_0_memoryAllocatedBytes=3.0 * 2**30, cpu=7.0),
                *_sample("first", 1, 9.9, gpu_0_gpu=70.0, gpu_0_memoryAllocatedBytes=5.0 * 2**30),
                *_sample("first", 2, 9.95, gpu_0_gpu=math.nan, gpu_1_temp=61.0),
                *_sample("first", 3, 10, gpu_0_powerWatts=300.0, gpu_0_gpu=50.0),
                *_sample("again", 0, 0, gpu_0_gpu=1.0),  # the export repeats what the log holds
                *_sample("second", 0, 125, gpu_0_gpu=40.0),  # a restart goes on with the arm's clock
            ],
        }
    )
    found = models.rows("select * exclude (arm) from gpu_intervals order by run_id, gpu_idx, interval_idx")
    assert found == [
        ("run-1", 0, 0, 0.0, 2, 0.8, 5.0 * 2**30, None, None),
        ("run-1", 0, 1, 10 / 60, 1, 0.5, None, 300.0, None),
        ("run-1", 1, 0, 0.0, 1, None, None, None, 61.0),
        ("run-2", 0, 12, 2.0, 1, 0.4, None, None, None),
    ]
