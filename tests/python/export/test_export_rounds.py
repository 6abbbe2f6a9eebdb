"""Exports of rounds and teacher calls at the published campaign's size, in both profiles."""

import csv
import hashlib
import json
from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.python.support.command import query, seamline
from tests.python.support.round_marts import round_marts

WINDOWS = [("baseline", 36, 240, 24, True), ("primary", 80, 240, 60, True)]


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with the campaign of the card's size, landed and built."""
    from simulate.rounds.write import write

    home, simulated = tmp_path_factory.mktemp("card") / "home", tmp_path_factory.mktemp("simulated") / "card"
    write(simulated, "card", 0)
    seamline("init", home=home)
    for path in (simulated / "declared").glob("*.csv"):
        (home / "declared" / path.name).write_text(path.read_text())
    seamline("ingest", "rounds", "--token-arrays", simulated / "rounds", home=home)
    for kind in ("native-metrics", "teacher-calls", "wandb"):
        seamline("ingest", kind, simulated / "rounds", home=home)
    seamline("build", home=home)
    return home


@pytest.fixture(scope="module")
def archive(campaign: Path) -> Path:
    folder = campaign.parent / "archive"
    seamline("export", folder, "--only", "rounds,teacher", "--no-figures", home=campaign)
    return folder


@pytest.fixture(scope="module")
def reading(campaign: Path) -> Path:
    folder = campaign.parent / "reading"
    seamline("export", folder, "--only", "rounds,teacher", "--profile", "reading", "--no-figures", home=campaign)
    return folder


def rows(path: Path) -> list[dict]:
    with open(path, newline="") as handle:
        return list(csv.DictReader(handle))


def lines_of(paths: Iterable[Path]) -> list[bytes]:
    return sorted(line for path in paths for line in path.read_bytes().split(b"\n") if line)


def digests(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_the_decision(archive: Path) -> None:
    decision = json.loads((archive / "tables" / "decision.json").read_text())
    (run,) = decision["runs"]
    keys = ("window_name", "valid_count", "candidate_count", "threshold_valid_count", "passes")
    assert [tuple(window[key] for key in keys) for window in run["windows"]] == WINDOWS
    (difference,) = run["differences"]
    assert difference["valid_count_difference"] == 44
    assert difference["valid_fraction_difference"] == pytest.approx(80 / 240 - 36 / 240)
    assert "threshold" in decision["rule"]


def test_the_tables(archive: Path) -> None:
    tables = archive / "tables"
    validity = rows(tables / "task_validity.csv")
    assert len(validity) == 45
    assert sum(int(row["candidate_count"]) for row in validity) == 720
    assert sum(int(row["candidate_count"]) for row in rows(tables / "reward_branches.csv")) == 720
    metrics = rows(tables / "training_metrics.csv")
    assert [row["step"] for row in metrics] == [str(step) for step in range(1, 10)]
    assert list(metrics[0])[:3] == ["run_id", "step", "source_file"]
    assert list(metrics[0])[3:] == sorted(list(metrics[0])[3:])
    as_json = json.loads((tables / "training_metrics.json").read_text())
    assert metrics[0]["ours_ropd/q_std"] == "" and as_json[0]["ours_ropd/q_std"] is None
    assert [str(row["actor/entropy"]) for row in as_json] == [row["actor/entropy"] for row in metrics]
    reconciled = json.loads((tables / "reconciliation.json").read_text())
    (native,) = reconciled["native_metrics"]
    assert (native["step_count"], native["disagreement_count"], native["disagreements"]) == (9, 0, [])
    assert native["shared_value_count"] == sum(len(row) - 3 for row in as_json)
    (system,) = reconciled["system_records"]
    assert (system["exported_row_count"], system["server_event_count"]) == (3148, 1930)
    schema = json.loads((tables / "schema.json").read_text())
    assert schema["candidates"]["penalty"] == ["boolean", "integer", "number"]
    assert schema["candidates"]["policy_before.served_policy_id"] == ["string"]
    assert schema["wandb_system"]["system.cpu"] == ["number"]
    assert set(schema) >= {"teacher_calls", "teacher_spend", "native_metrics", "scheduler_events", "wandb_system_logs"}
    costs = rows(tables / "teacher_costs.csv")
    assert {row["role"] for row in costs} == {"reference", "rubric", "verifier"}


def test_the_archive_gives_back_every_line_byte_for_byte(campaign: Path, archive: Path) -> None:
    found = campaign.parent.parent.glob("simulated*/card/rounds/**/siblings.jsonl")
    upstream = lines_of({path.resolve() for path in found})
    (cut,) = [line for line in upstream if not line.endswith(b"}")]
    assert lines_of(archive.rglob("rollout/*.jsonl")) == [line for line in upstream if line != cut]
    assert len(upstream) == 720 + 37 + 1 + 16 + 1
    assert "not_landed" not in json.loads((archive / "tables" / "schema.json").read_text())


def test_the_archive_gives_back_every_call_byte_for_byte(campaign: Path, archive: Path) -> None:
    found = campaign.parent.parent.glob("simulated*/card/rounds/**/teacher_calls/**/*.jsonl")
    upstream = lines_of({path.resolve() for path in found})
    assert lines_of(archive.rglob("teacher_calls/**/*.jsonl")) == upstream and len(upstream) > 1000
    labels = [row for path in archive.rglob("teacher_calls/**/*.labels.csv") for row in rows(path)]
    assert len(labels) == query(campaign, "select count(*) from teacher_call_rows")[0][0] >= len(upstream)


def test_the_viewer_shows_tables_and_no_labels(archive: Path) -> None:
    front = (archive / "README.md").read_text().split("\n---\n")[0]
    assert "tables/task_validity.csv" in front and "records" not in front


def test_labels_lie_beside_the_records(archive: Path) -> None:
    kept = set()
    for path in archive.rglob("rollout/*.jsonl"):
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        labels = rows(path.with_suffix(".labels.csv"))
        assert [row["line"] for row in labels] == [str(number) for number in range(1, len(lines) + 1)]
        for line, label in zip(lines, labels, strict=True):
            if not label["drop_reason"] and label["is_diagnostic"] == "false":
                kept.add((line["step"], line["group_id"], line["sibling_index"]))
    assert len(kept) == 720
    paths = {path.relative_to(archive).as_posix() for path in archive.rglob("*")}
    step = "records/ropd-sim-wide/checkpoints/global_step_9"
    assert f"{step}/lora_adapter/adapter_model.safetensors" in paths and f"{step}/tokenizer.json" in paths
    assert not any("optim" in path for path in paths)
    assert "records/ropd-sim-wide/rollout/round_5.attempt1.jsonl" in paths


def test_the_reading_copy_has_no_token_arrays_and_no_saved_steps(archive: Path, reading: Path) -> None:
    texts = [path.read_text() for path in reading.rglob("*.jsonl")]
    assert len(texts) == len(list(archive.rglob("*.jsonl"))) > 10
    assert not any('"input_ids"' in text for text in texts)
    names = {path.name for path in reading.rglob("*")}
    assert not names & {"tokenizer.json", "checkpoints", "adapter_model.safetensors"}
    line = json.loads((reading / "records/ropd-sim-wide/rollout/round_1.jsonl").read_text().splitlines()[0])
    assert line["verdict_row"] == {"verdict": "fail"} or line["verdict_row"] == {"verdict": "pass"}
    assert (reading / "tables/decision.json").read_bytes() == (archive / "tables/decision.json").read_bytes()


def test_only_arrays_of_numbers_with_those_names_are_left_out() -> None:
    from export.records import _reduced

    value = {
        "input_ids": [1, [2, None]],
        "prompt_ids": ["a"],
        "nested": [{"response_ids": [], "response_logprobs": "n/a", "ids": [1]}],
        "response_token_ids": 3,
    }
    kept = {"prompt_ids": ["a"], "nested": [{"response_logprobs": "n/a", "ids": [1]}], "response_token_ids": 3}
    assert json.loads(_reduced(json.dumps(value), "reading")) == kept
    assert json.loads(_reduced(json.dumps(value), "archive")) == value


def test_arrays_that_were_not_landed_are_named_with_what_lands_them(tmp_path: Path) -> None:
    home, folder = tmp_path / "home", tmp_path / "run" / "round_1"
    folder.mkdir(parents=True)
    plain = '{"group_id": 7, "sibling_index": 0, "chain": 3, "created_at": 1757350000, "response_text": "\\u00e9 é"}'
    long = '{"group_id": 7, "sibling_index": 1, "chain": "3", "step": null, "input_ids": [1, 2]}'
    (folder / "siblings.jsonl").write_text(f"{plain}\n{long}\n")
    seamline("init", home=home)
    seamline("ingest", "rounds", tmp_path / "run", home=home)
    seamline("build", home=home)
    seamline("export", tmp_path / "out", "--no-figures", home=home)
    first, second = (tmp_path / "out/records/run/rollout/round_1.jsonl").read_text().splitlines()
    assert first == plain
    assert json.loads(second) == {"group_id": 7, "sibling_index": 1, "chain": "3", "step": None}
    left_out = json.loads((tmp_path / "out/tables/schema.json").read_text())["not_landed"]
    assert left_out == {"candidates": ["input_ids"], "command": "seamline ingest rounds PATH --token-arrays"}
    readme = (tmp_path / "out/README.md").read_text()
    assert "Not landed, so not in `records/`: `input_ids`. `seamline ingest rounds PATH --token-arrays`" in readme


def test_the_same_export_has_the_same_bytes(campaign: Path, archive: Path) -> None:
    again = campaign.parent / "again"
    seamline("export", again, "--only", "rounds,teacher", "--no-figures", home=campaign)
    assert digests(again) == digests(archive)


def test_an_export_over_the_limit_writes_nothing_and_names_the_largest(campaign: Path) -> None:
    folder = campaign.parent / "too large"
    done = seamline("export", folder, "--only", "rounds", "--limit-gib", "0.001", home=campaign, check=False)
    assert done.returncode == 1 and not folder.exists()
    assert "over the limit of 0.001 GiB; largest: records/ropd-sim-wide/rollout" in done.stderr


def test_saved_steps_that_are_gone_are_named(campaign: Path, archive: Path) -> None:
    steps = sorted((campaign.parent.parent).glob("simulated*/card/rounds/*/checkpoints/global_step_3"))
    target = steps[-1] / "tokenizer.json"
    text = target.read_text()
    target.unlink()
    try:
        folder = campaign.parent / "gone"
        seamline("export", folder, "--only", "rounds", "--no-figures", home=campaign)
    finally:
        target.write_text(text)
    assert (
        "no longer where they were ingested: ropd-sim-wide global_step_3/tokenizer.json"
        in (folder / "README.md").read_text()
    )


def test_an_empty_home_has_no_rounds_to_export(tmp_path: Path) -> None:
    from export import rounds, teacher

    models = round_marts()
    models.run({})
    assert rounds.write(models.connection, tmp_path, "archive") == ""
    assert teacher.write(models.connection, tmp_path, "archive") == ""
    assert not list(tmp_path.iterdir())
