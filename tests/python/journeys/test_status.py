"""`seamline status`: what has landed, what is quarantined, what was built, what is stale."""

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.python.support.command import ROOT, seamline
from tests.python.support.planted import declare, land_run

ROW = {"global_step": 1.0, "scores": 0.5}


def state(home) -> dict:
    return json.loads(seamline("status", "--json", home=home).stdout)


def test_an_empty_home_says_what_to_do_and_is_not_made(home):
    done = seamline("status", home=home)
    assert "landed: none" in done.stdout and "`seamline ingest FOLDER`" in done.stdout
    assert not home.exists()
    assert state(home)["landed"] == [] and state(home)["build"] is None and state(home)["stale"] is None


def test_landed_quarantined_built_and_stale(home):
    land_run(home, "run-a", [ROW, ROW], log_id="log-a")
    reasons = [(f"byte {7 * n}", f"crc\tof block {n}") for n in range(25)]
    land_run(home, "run-b", [ROW], log_id="log-b", unreadable=reasons)
    before = state(home)
    (landed,) = before["landed"]
    # rows over all tables: a log each, 3 rows, 6 values
    assert (landed["kind"], landed["source_count"], landed["row_count"]) == ("wandb", 2, 2 + 3 + 6)
    assert (landed["size_bytes"], landed["quarantined_count"]) == (2000, 25)
    assert before["quarantined"][3] == {
        "kind": "wandb",
        "source": "/runs/log-b.wandb",
        "locator": "byte 21",
        "reason": "crc\tof block 3",
    }
    assert before["build"] is None and before["next"] == "not built yet: run `seamline build`"

    text = seamline("status", home=home).stdout
    assert text.count("/runs/log-b.wandb") == 20
    assert "... and 5 more: `seamline status --all` lists every record" in text
    assert "wandb\t/runs/log-b.wandb\tbyte 21\tcrc of block 3\n" in text
    assert seamline("status", "--all", home=home).stdout.count("/runs/log-b.wandb") == 25

    dbt_by_hand(home, "--vars", "{seam_ratio: not_a_number}")
    failed = state(home)
    assert failed["build"]["error_count"] > 0 and failed["build"]["skipped_count"] > 0
    assert failed["next"].startswith("the last build failed: see ")

    seamline("build", home=home)
    built = state(home)
    assert built["build"]["built_count"] > 10 and built["build"]["error_count"] == 0
    assert built["build"]["started_at"] < built["build"]["ended_at"]
    assert built["stale"] == {"sources": [], "declared": []} and built["next"] is None

    dbt_by_hand(home, "--select", "arms")
    assert state(home)["build"] == built["build"]  # a part of the project says nothing of the rest

    land_run(home, "run-c", [ROW], log_id="log-c")
    declare(home, "metric_notes", "scores,fine,true\n")
    stale = state(home)
    assert stale["stale"] == {"sources": ["/runs/log-c.wandb"], "declared": [str(home / "declared/metric_notes.csv")]}
    assert stale["next"] == "what is built is stale: run `seamline build`"
    text = seamline("status", home=home).stdout
    assert "changed since: /runs/log-c.wandb\n" in text and "next: what is built is stale" in text


def dbt_by_hand(home: Path, *arguments: str) -> None:
    """`dbt build` from the checkout, as the README says, its artifacts elsewhere."""
    environment = os.environ | {"SEAMLINE_HOME": str(home), "DBT_TARGET_PATH": str(home.parent / "target")}
    dbt = Path(sys.executable).parent / "dbt"
    subprocess.run([dbt, "--quiet", "build", *arguments], cwd=ROOT, env=environment, capture_output=True)
