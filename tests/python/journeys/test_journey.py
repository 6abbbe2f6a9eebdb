"""The whole way: a simulated campaign over the W&B API to the Hub, and the same from its `.wandb` logs."""

import csv
import hashlib
import json
import math
import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from simulate.curves import write as curves
from tests.python.support.command import query, seamline
from tests.python.support.curves_truth import declare
from tests.python.support.hub_server import HubServer
from tests.python.support.wandb.served import served
from tests.python.support.wandb.server import API_KEY, WandbServer

REPO = "lab/campaign"
KEY = "sk-" + "abcdefghij1234567890" + "T3BlbkFJ" + "klmnopqrst0987654321"
"""Has the form of a key, and opens nothing."""


@pytest.fixture(scope="module")
def simulated(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("journey") / "small"
    curves.write(folder, "small", 0)
    return folder


@pytest.fixture(scope="module")
def over_the_api(simulated, tmp_path_factory) -> Iterator[Path]:
    """A home built from the API."""
    home, client = tmp_path_factory.mktemp("api") / "home", tmp_path_factory.mktemp("client")
    runs = served(simulated / "wandb")
    for run in runs[::3]:
        run.parquet_rows = _packable(run.rows)
    with WandbServer(runs) as server, pytest.MonkeyPatch.context() as patch:
        for name, value in server.environment(client).items():
            patch.setenv(name, value)
        seamline("init", home=home)
        declare(home, simulated)
        seamline("ingest", "wandb", "sim-lab/sc3", home=home)
        seamline("build", home=home)
        assert server.seen["parquet"] > 2
        yield home


def _packable(rows: list[dict]) -> int:
    """How many leading rows one Parquet schema can hold: half of them, up to the first text among numbers."""
    names = ("NaN", "Infinity", "-Infinity")
    for n, row in enumerate(rows):
        if any(isinstance(value, (str, dict, bool, list)) and value not in names for value in row.values()):
            return n
    return len(rows) // 2


@pytest.fixture(scope="module")
def exported(over_the_api, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("exported") / "out"
    seamline("export", folder, "--only", "curves", "--no-figures", home=over_the_api)
    return folder


def test_api_to_hub_is_the_planted_truth_and_the_logs_give_the_same_bytes(
    simulated, over_the_api, exported, tmp_path, monkeypatch
):
    assert query(over_the_api, "select count(*) from history_completeness where not is_complete") == [(0,)]
    with HubServer() as hub:
        hub_environment = hub.environment(tmp_path / "hf") | {"HF_TOKEN": "hf_" + "a1" * 17}
        for name, value in hub_environment.items():
            monkeypatch.setenv(name, value)
        seamline("publish", exported, REPO, "--create")
        fetched = tmp_path / "fetched"
        code = (
            "import sys; from huggingface_hub import snapshot_download as get; get(sys.argv[1], repo_type='dataset', "
        )
        code += "local_dir=sys.argv[2])"
        command = [sys.executable, "-c", code, REPO, str(fetched)]
        subprocess.run(command, check=True, env=os.environ | hub_environment, timeout=120)
    _equal_to_truth(fetched, simulated)

    home = tmp_path / "home"
    seamline("init", home=home)
    declare(home, simulated)
    seamline("ingest", "wandb", simulated / "wandb", home=home)
    seamline("build", home=home)
    seamline("export", tmp_path / "logs", "--only", "curves", "--no-figures", home=home)
    files = sorted(path.name for path in (fetched / "by-arm").iterdir())
    assert files == sorted(path.name for path in (tmp_path / "logs" / "by-arm").iterdir()) and len(files) > 8
    for name in files:
        assert (fetched / "by-arm" / name).read_bytes() == (tmp_path / "logs" / "by-arm" / name).read_bytes(), name


def _equal_to_truth(folder: Path, simulated: Path) -> None:
    """Every cell of every by-arm file is what the trainer logged, and every value of the truth is there."""
    with open(folder / "arms.csv", newline="") as handle:
        files = {row["arm"]: row["file"] for row in csv.DictReader(handle) if row["file"]}
    told: dict[tuple[str, str, str], str] = {}
    with open(simulated / "truth" / "curves.csv", newline="") as handle:
        for row in csv.DictReader(handle):
            told[row["arm"], row["training_step"], row["metric"]] = row["value"]
            told[row["arm"], row["training_step"], "position"] = row["position"]
            told[row["arm"], row["training_step"], "run_id"] = row["run_id"]
    found: dict[tuple[str, str, str], str] = {}
    for arm, file in files.items():
        with open(folder / file, newline="") as handle:
            for row in csv.DictReader(handle):
                step = row.pop("training_step")
                found |= {(arm, step, _metric(name, row)): value for name, value in row.items() if value != ""}
    told = {key: value for key, value in told.items() if value != "null"}
    assert Counter(arm for arm, _, _ in set(told) - set(found)) == Counter(), "in the truth alone"
    assert Counter(arm for arm, _, _ in set(found) - set(told)) == Counter(), "in the files alone"
    assert len(told) > 3000
    wrong = {key: (found[key], value) for key, value in told.items() if not _same(found[key], value)}
    assert not wrong


def _metric(name: str, row: dict[str, str]) -> str:
    """A metric named as a leading column of the file is headed `logged_<name>` there."""
    return name.removeprefix("logged_") if name.removeprefix("logged_") in ("training_step", "position") else name


def _same(cell: str, value: str) -> bool:
    try:
        a, b = float(cell), float(value)
    except ValueError:
        return cell.replace(" ", "") == value.replace(" ", "") or f'"{cell}"' == value
    return a == b or (math.isnan(a) and math.isnan(b))


def test_the_card_is_one_that_the_hub_reads(exported):
    from huggingface_hub import DatasetCard

    card = DatasetCard.load(exported / "README.md")
    configs = card.data.to_dict()["configs"]
    assert [config["config_name"] for config in configs if config.get("default")] == ["all_arms_wide"]
    assert card.data.size_categories == "n<1K" or card.data.size_categories == "1K<n<10K"
    names = [config["config_name"] for config in configs]
    assert len(names) == len(set(names))
    described: list[Path] = []
    for config in configs:
        globs = config["data_files"] if isinstance(config["data_files"], list) else [config["data_files"]]
        files = [file for glob in globs for file in sorted(exported.glob(glob))]
        assert files and len({file.open().readline() for file in files}) == 1, config
        described += files
    assert sorted(described) == sorted(exported.rglob("*.csv"))  # each table in one config
    assert yaml.safe_load((exported / "README.md").read_text().split("---")[1])["tags"][-1] == "curves"


def test_check_names_what_is_not_as_it_was_exported(over_the_api, exported, tmp_path):
    folder = tmp_path / "copy"
    shutil.copytree(exported, folder)
    done = seamline("export", folder, "--check", home=over_the_api)
    count = len([path for path in folder.rglob("*") if path.is_file()])
    assert f"{count} files as listed" in done.stdout
    # A row too few, and lists that agree with it: only the mart can tell.
    lines = (folder / "arms.csv").read_text().splitlines(keepends=True)
    (folder / "arms.csv").write_text("".join(lines[:-1]))
    _relist(folder)
    done = seamline("export", folder, "--check", home=over_the_api, check=False)
    assert (
        done.returncode == 1 and f"arms.csv: {len(lines) - 2} rows where the mart has {len(lines) - 1}" in done.stderr
    )
    assert done.stderr.count("where the mart has") == 1


def _relist(folder: Path) -> None:
    paths = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    listed = [path for path in paths if path not in ("FILES.txt", "SHA256SUMS")]
    (folder / "FILES.txt").write_text("".join(f"{path}\t{(folder / path).stat().st_size}\n" for path in listed))
    sums = {path: hashlib.sha256((folder / path).read_bytes()).hexdigest() for path in [*listed, "FILES.txt"]}
    (folder / "SHA256SUMS").write_text("".join(f"{digest}  {path}\n" for path, digest in sorted(sums.items())))


def test_a_planted_key_stops_the_export_and_is_never_told(tmp_path, monkeypatch):
    home = tmp_path / "home"
    rows = [{"_step": n, "_timestamp": 1_789_200_000 + n, "global_step": n, "x": n} for n in range(3)]
    rows[1]["note"] = KEY
    rows[2]["own"] = API_KEY
    (tmp_path / "r1").mkdir()
    (tmp_path / "r1" / "history.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    config = {"exp_name": "a", "data": "/home/ada/data", "mail": "ada@example.org"}
    (tmp_path / "r1" / "run.json").write_text(json.dumps({"id": "r1", "state": "finished", "config": config}))
    seamline("ingest", "wandb", tmp_path / "r1", home=home)
    recipe = "arm_pattern,config_key,value,affects_learning,note\n*,data,/data,false,\n*,mail,none,false,\n"
    (home / "declared" / "frozen_recipe.csv").write_text(recipe)
    seamline("build", home=home)
    monkeypatch.setenv("WANDB_API_KEY", API_KEY)
    out = tmp_path / "out"
    done = seamline("export", out, "--no-figures", home=home, check=False)
    assert done.returncode == 1 and not out.exists()
    assert "by-run/a/r1.csv, row 3: OpenAI Token" in done.stderr and "by-arm/a.csv, row 3: OpenAI" in done.stderr
    assert "by-run/a/r1.csv, row 4: your own W&B key" in done.stderr
    assert KEY not in done.stdout + done.stderr and API_KEY not in done.stdout + done.stderr
    cells = [json.dumps(KEY), json.dumps(API_KEY), KEY, API_KEY]
    digests = [hashlib.sha256(cell.encode()).hexdigest() for cell in cells]
    allowed = "digest,reason\n" + "".join(f"{digest},made up for a test\n" for digest in digests)
    (home / "declared" / "allowed_secrets.csv").write_text(allowed)
    seamline("export", out, "--no-figures", home=home)
    index = (out / "INDEX.md").read_text() + (out / "README.md").read_text()
    assert "/home/ada" not in index and "ada@" not in index and "/data" in index
    seamline("export", out, "--no-figures", "--with-host-info", home=home)
    index = (out / "INDEX.md").read_text() + (out / "README.md").read_text()
    assert "/home/ada/data" in index and "ada@example.org" in index


def test_what_detect_secrets_is_asked_to_find(tmp_path):
    from export.secrets import scan

    (tmp_path / "t.csv").write_text(
        "name,wandb_api_key,other,digest\n"
        f"plain,0123abcd0123abcd0123abcd0123abcd0123abcd,1,{hashlib.sha256(b'x').hexdigest()}\n"
        "hardened-prefilter-dppo-9b__42__1789453662,,hf_AbCdEfGhIjKlMnOpQrStUvWxYz01234567,2026-09-12 08:00:00\n"
    )
    (tmp_path / "r.jsonl").write_text('{"a": {"text": "AKIAIOSFODNN7EXAMPLE"}}\nhttps://u:pa55word1@example.org/x\n')
    (tmp_path / "weights.safetensors").write_bytes(b"\0AKIAIOSFODNN7EXAMPLE")
    assert {(hit.file, hit.row, hit.kind) for hit in scan(tmp_path)} == {
        ("t.csv", 2, "Secret Keyword"),
        ("t.csv", 3, "Base64 High Entropy String"),
        ("r.jsonl", 1, "AWS Access Key"),
        ("r.jsonl", 2, "Basic Auth Credentials"),
    }


def test_a_key_far_below_numbers_is_found(tmp_path):
    """The type of a column is told from its first block of 16 MiB."""
    from export.secrets import scan

    count = 2_200_000
    (tmp_path / "t.csv").write_text("a,b\n" + "1234567,\n" * count + f"{KEY},\n" + "1,AKIAIOSFODNN7EXAMPLE\n")
    hits = {(hit.row, hit.kind) for hit in scan(tmp_path)}
    assert {(count + 2, "OpenAI Token"), (count + 3, "AWS Access Key")} <= hits
