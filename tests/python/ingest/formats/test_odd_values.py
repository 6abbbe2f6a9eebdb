"""Values that no column holds, in every place where a reader of JSON looks: nothing raises, and each line lands or is
quarantined."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from wandb.proto import wandb_internal_pb2 as pb

from homes.lock import open_home
from homes.paths import Home
from ingest.checkpoints.sweeps import ingest_checkpoints
from ingest.detect import ingest_auto
from ingest.driver_usage.sessions import ingest_driver_usage
from ingest.open_instruct.shards import ingest_rollouts
from ingest.rounds.trees import ingest_rounds
from ingest.run import Outcome
from ingest.scores.tables import ingest_scores
from ingest.teacher_calls.logs import ingest_teacher_calls
from ingest.verl.file_logger import ingest_native_metrics
from ingest.wandb.files import ingest_wandb
from simulate.curves.wandb_writer import frame
from tests.python.support.landed import everything

HOLE = '"<>"'
ODD = {
    "4,301 digits": "7" * 4301,
    "20 digits": "12345678901234567890",
    "minus 20 digits": "-12345678901234567890",
    "beyond doubles": "1" + "0" * 400,
    "1e999": "1e999",
    "NaN": "NaN",
    "half a pair": '"\\ud83d"',
    "NUL": '"a\\u0000b"',
    "keys": '{"a\\u0000b": 1, "\\udc00": {"\\udc00": 2}, "": 3, "a": {"b": 4}, "a.b": 5}',
    "900 levels": "[" * 900 + "]" * 900,
    "600 levels and NaN": '{"a":' * 600 + "NaN" + "}" * 600,
    "5,000 levels": "[" * 5000 + "]" * 5000,
    "year 1": '"0001-01-01T00:00:00+14:00"',
    "year 9999": '"9999-12-31T23:59:59-14:00"',
    "first microsecond": '"0001-01-01T00:00:00"',
    "before year 1": "-1e11",
    "null": "null",
    "true": "true",
    "empty": '""',
    "lists": "[[], [null], {}]",
}


def lines(record: dict) -> list[str]:
    """The record; then, for each of its keys and each odd value, the record with that value there; and such keys."""
    text = json.dumps(record)
    found = [text]
    for odd in ODD.values():
        found += [json.dumps(changed).replace(HOLE, odd) for changed in with_a_hole(record)]
    return [*found, text[:-1] + ', "\\ud83d": 1, "a\\u0000b": 2}', text[:-1] + ', "step\\u0000": 2}']


def with_a_hole(record: dict) -> list[dict]:
    """The record with each of its values, nested ones too, in turn replaced by the hole."""
    found = []
    for key, value in record.items():
        found.append(record | {key: HOLE.strip('"')})
        if isinstance(value, dict):
            found += [record | {key: inner} for inner in with_a_hole(value)]
        if isinstance(value, list) and value and isinstance(value[0], dict):
            found += [record | {key: [inner]} for inner in with_a_hole(value[0])]
    return found


ROLLOUT = {
    "step": 0,
    "sample_idx": 0,
    "prompt_idx": 0,
    "prompt_tokens": [1],
    "response_tokens": [1, 2],
    "logprobs": [-0.5, 0.0],
    "reward": 1.0,
    "finish_reason": "stop",
    "request_info": {"num_calls": 1, "tool_runtimes": 0.5},
}
USAGE = {"input_tokens": 5, "output_tokens": 1}
CALL = {
    "call_id": "c",
    "step": 1,
    "created_at": "2026-08-03T07:00:00Z",
    "response": {"id": "r", "created": 1.0, "usage": {**USAGE, "input_tokens_details": {"cached_tokens": 1}}},
    "judge_evaluations": [{"response": {"id": "j", "usage": USAGE}, "cost_usd": 0.5}],
}
CANDIDATE = {
    "group_id": "g",
    "sibling_index": 0,
    "step": 1,
    "created_at": 1.0,
    "result": {"outcome": "ok", "score": 1.0},
    "cost_by_role": {"judge": 0.5},
}
CODEX = {"type": "token_count", "info": {"total_token_usage": USAGE}}
STAMP = "2026-08-03T07:00:00Z"
JSON_LINES: dict[str, tuple[Callable[..., Outcome], str, dict]] = {
    "rollouts": (ingest_rollouts, "a__1_rollouts_000000.jsonl", ROLLOUT),
    "rollout metadata": (
        ingest_rollouts,
        "a__1_metadata.jsonl",
        {"run_name": "a", "git_commit": "b", "model_name": "c", "timestamp": STAMP},
    ),
    "candidates": (ingest_rounds, "run/rollout/run/round_3/siblings.jsonl", CANDIDATE),
    "scheduler": (ingest_rounds, "run/logs/scheduler.jsonl", {"time": 1.0, "capacity_before": 1, "load1": 0.5}),
    "system records": (ingest_rounds, "run/wandb_export/a/system_metrics.jsonl", {"_timestamp": 1, "b": {"c": 2}}),
    "teacher calls": (ingest_teacher_calls, "run/teacher_calls/a/b.jsonl", CALL),
    "ledger": (ingest_teacher_calls, "run/teacher_spend.jsonl", {"run_id": "r", "step": 1, "cost_usd": 0.5}),
    "native metrics": (ingest_native_metrics, "verl_metrics/p/e.jsonl", {"step": 1, "data": {"a": 1, "b": {"c": 2}}}),
    "codex": (ingest_driver_usage, "cell/driver/a.jsonl", {"timestamp": STAMP, "payload": CODEX}),
    "codex session": (
        ingest_driver_usage,
        "cell/driver/b.jsonl",
        {"type": "session_meta", "payload": {"id": "b", "source": {"subagent": {"thread_spawn": {"x": 1}}}}} | USAGE,
    ),
    "claude": (
        ingest_driver_usage,
        "cell/driver/c.jsonl",
        {"timestamp": STAMP, "sessionId": "s", "message": {"id": "m", "usage": USAGE}},
    ),
    "plain usage": (ingest_driver_usage, "cell/driver/d.jsonl", {"timestamp": STAMP} | USAGE),
    "scores": (ingest_scores, "s.jsonl", {"model_id": "m", "suite": "s", "score": 1.0, "step": 1, "harness": "h"}),
    "history": (ingest_wandb, "h.jsonl", {"_step": 0, "_timestamp": 1.0, "_runtime": 1.0, "a": 1, "b": {"c": 2}}),
}


CONFIG = {"_name_or_path": "m", "model_type": "t", "eos_token_id": 1, "text_config": {"eos_token_id": [1]}}
RUN = {"id": "r<at>", "displayName": "n", "name": "r<at>", "config": {"lr": {"value": 1}}, "summary": {"a": {"b": 1}}}
DOCUMENTS: dict[str, tuple[Callable[..., Outcome], str, dict | list]] = {
    "wandb run.json": (ingest_wandb, "run.json", RUN | {"startedAt": STAMP, "arm": "a", "state": "finished"}),
    "wandb config.json": (ingest_wandb, "config.json", {"lr": 1, "_wandb": {"value": {"m": [{"1": "a", "5": 1}]}}}),
    "wandb summary.json": (ingest_wandb, "summary.json", {"a": 1, "b": {"c": 2}}),
    "wandb system metrics": (ingest_wandb, "system_metrics.json", [{"_timestamp": 1.0, "gpu": 1, "b": {"c": 2}}]),
    "wandb history": (ingest_wandb, "history.json", [{"_step": 0, "_timestamp": 1.0, "a": 1, "b": {"c": 2}}]),
    "evaluation": (ingest_rounds, "eval_sft.json", [{"task": "t", "attempt": 0, "valid": True, "score": 0.5}]),
    "tracker's run.json": (ingest_rounds, "wandb_export/a/run.json", RUN),
    "adapter": (ingest_rounds, "checkpoints/global_step_1/adapter_config.json", {"r": 32, "lora_alpha": 64}),
    "cell's run.json": (
        ingest_checkpoints,
        "run.json",
        {"cell": "c", "driver": "d", "effort": 1, "started_at": STAMP, "ended_at": STAMP},
    ),
    "submission": (ingest_checkpoints, "submission.json", {"submitted": "sft/1", "fallback": "sft/1"}),
    "model's config": (ingest_checkpoints, "checkpoints/sft/1/config.json", CONFIG),
    "tokenizer": (ingest_checkpoints, "checkpoints/sft/1/tokenizer_config.json", {"eos_token": {"content": "e"}}),
    "manifest": (
        ingest_checkpoints,
        "manifest.json",
        [{"model_id": "m", "cell": "c", "hour_source": "h", "hour": 1, "eos_ok": True, "eos_token_id": [1]}],
    ),
}
BESIDE = {
    "wandb": {"history.csv": "_step,a\n0,1\n", "run.json": '{"id": "r<at>"}'},
    "rounds": {"checkpoints/global_step_1/x.pt": "", "wandb_export/a/system_metrics.json": "[]"},
    "checkpoints": {"checkpoints/sft/1/config.json": "{}"},
}
"""What makes the folder around a document one of its kind; `<at>` is the folder's number."""


def landed(home: Path, ingest: Callable[..., Outcome], source: Path) -> tuple[Outcome, dict[str, list]]:
    with open_home(home) as opened:
        outcome = ingest(opened, [str(source)])
    return outcome, everything(Home(home), "")


@pytest.mark.parametrize("kind", JSON_LINES)
def test_each_line_lands_or_is_quarantined(kind: str, home: Path, tmp_path: Path) -> None:
    ingest, name, record = JSON_LINES[kind]
    file = tmp_path / "in" / name
    file.parent.mkdir(parents=True)
    file.write_text("\n".join(lines(record)) + "\n")
    outcome, found = landed(home, ingest, tmp_path / "in")
    assert outcome.landed == 1
    assert sum(outcome.rows.values()) > outcome.quarantined > 0
    assert all(len(reason) < 1_000 for *_, reason in found["quarantine"])


@pytest.mark.parametrize("kind", DOCUMENTS)
def test_each_document_lands_or_is_quarantined(kind: str, home: Path, tmp_path: Path) -> None:
    ingest, name, record = DOCUMENTS[kind]
    room = ingest.__module__.split(".")[1]
    for at, text in enumerate(lines(record[0] if isinstance(record, list) else record)):
        folder = tmp_path / "in" / f"d{at}"
        files = {} if name in ("history.json", "manifest.json") else BESIDE[room]
        for file, content in (files | {name: f"[{text}]" if isinstance(record, list) else text}).items():
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            (folder / file).write_text(content.replace("<at>", str(at)))
    outcome, found = landed(home, ingest, tmp_path / "in")
    assert outcome.landed > 0 and outcome.quarantined > 0
    assert all(len(reason) < 1_000 for *_, reason in found["quarantine"])


def test_a_log_lands_what_its_values_are(home: Path, tmp_path: Path) -> None:
    run = pb.Record(num=1)
    run.run.run_id, run.run.start_time.seconds = "r", 2**62
    records = [run]
    for odd in ODD.values():
        history, config, summary, stats = (pb.Record(num=len(records) + at) for at in range(1, 5))
        for items in (history.history.item, config.config.update, summary.summary.update):
            items.add(key="a", value_json=odd)
            items.add(key="_timestamp", value_json=odd)
            items.add(nested_key=["a\0b"] * 3, value_json=odd)
            items.add(nested_key=["deep"] * 3_000, value_json=odd)
            items.add(nested_key=["typed"] * 3_000 + ["_type"], value_json='"histogram"')
        stats.stats.timestamp.seconds = -(2**62)
        stats.stats.item.add(key="a", value_json=odd)
        records += [history, config, summary, stats]
    with open(tmp_path / "run-r.wandb", "wb") as out:
        frame((record.SerializeToString() for record in records), out)
    outcome, found = landed(home, ingest_wandb, tmp_path / "run-r.wandb")
    assert outcome.landed == 1
    assert len(found["history_rows"]) == len(ODD)
    assert len(found["history_system_values"]) >= len(ODD)


@pytest.mark.parametrize(
    ("ingest", "name", "text"),
    [
        (ingest_rollouts, f"a__1_rollouts_{'9' * 20}.jsonl", json.dumps(ROLLOUT)),
        (ingest_rounds, f"run/round_{'9' * 20}.attempt{'9' * 30}/siblings.jsonl", json.dumps(CANDIDATE)),
        (ingest_rounds, f"run/checkpoints/global_step_{'9' * 20}/adapter_config.json", "{}"),
        (ingest_checkpoints, f"checkpoints/sft/{'9' * 20}/config.json", '{"eos_token_id": 99999999999999999999}'),
    ],
)
def test_a_number_of_20_digits_in_a_name(ingest, name: str, text: str, home: Path, tmp_path: Path) -> None:
    (tmp_path / "in" / name).parent.mkdir(parents=True)
    (tmp_path / "in" / name).write_text(text)
    outcome, _ = landed(home, ingest, tmp_path / "in")
    assert (outcome.landed, outcome.quarantined) == (1, 1)


def test_files_whose_names_are_no_utf_8_land(home: Path, tmp_path: Path) -> None:
    for kind, (_, name, record) in JSON_LINES.items():
        folder = tmp_path / "in" / f"{kind} \udcff" / name
        folder.parent.mkdir(parents=True)
        stem, _, rest = folder.name.partition("a__1" if "a__1" in name else "\0")
        folder.with_name(f"{stem}a\udcff__1{rest}" if rest else stem).write_text(json.dumps(record))
    (tmp_path / "in" / "unknown \udcff").write_text("?")
    with open_home(home) as opened:
        said = "\n".join(ingest_auto(opened, [str(tmp_path / "in")]))
    said.encode()
    assert "failed" not in said and "unknown \\udcff" in said
