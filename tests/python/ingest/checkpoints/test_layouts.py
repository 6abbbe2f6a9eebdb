"""Checkpoints as their writers lay them out on disk: every folder that holds one is a row, and its parts are none."""

import json
import struct
from pathlib import Path

import pytest

from tests.python.support.checkpoints.landing import landed, write
from tests.python.support.command import seamline

MODEL = {"model_type": "qwen2", "architectures": ["Qwen2ForCausalLM"]}
COLUMNS = "model_id, family, step_name"


def weights(**tensors: bytes) -> bytes:
    """A safetensors file of byte tensors, as the format's page describes it."""
    header, end = {}, 0
    for name, content in tensors.items():
        header[name] = {"dtype": "U8", "shape": [len(content)], "data_offsets": [end, end + len(content)]}
        end += len(content)
    text = json.dumps({"__metadata__": {"format": "pt"}} | header).encode()
    return struct.pack("<Q", len(text)) + text + b"".join(tensors.values())


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A folder `runs` of runs, each saved by another writer."""
    runs = tmp_path / "runs"
    for name in ("a/out", "b/out"):  # transformers: the last model beside the steps; two runs of one name
        write(runs / name / "config.json", MODEL)
        write(runs / name / "tokenizer" / "tokenizer_config.json", {"eos_token": "</s>"})
        step = runs / name / "checkpoint-500"
        write(step / "config.json", MODEL)
        write(step / "pytorch_model-00001-of-00002.bin", "x")
        write(step / "global_step500" / "mp_rank_00_model_states.pt", "x")
        write(step / "trainer_state.json", {"global_step": 500, "best_metric": 0.5, "best_global_step": 400})
    write(runs / "lora" / "checkpoint-7" / "adapter_config.json", {"base_model_name_or_path": "Q/B", "peft_type": "X"})
    write(runs / "lora" / "checkpoint-7" / "adapter_model.bin", "x")
    write(runs / "lora" / "checkpoint-7" / "critic" / "adapter_config.json", {"base_model_name_or_path": "Q/C"})
    for part in ("actor", "critic"):  # verl
        write(runs / "verl" / "global_step_20" / part / "model_world_size_2_rank_0.pt", "x")
        write(runs / "verl" / "global_step_20" / part / "huggingface" / "config.json", MODEL)
    write(runs / "verl" / "global_step_20" / "data.pt", "x")
    write(runs / "nemo" / "step_3" / "training_info.json", {"current_step": 3, "val_reward": -99999999.0})
    write(runs / "nemo" / "step_3" / "policy" / "tokenizer" / "tokenizer_config.json", {"eos_token": "</s>"})
    write(runs / "state-only" / "checkpoint-9" / "trainer_state.json", {"global_step": 9})
    write(runs / "plain" / "config.json", {"lr": 1})
    lines = ['{"name": "000010", "batch": 10, "sampler_path": "tinker://a/sampler/10", "state_path": "tinker://a/10"}']
    lines += ['{"name": "final", "state_path": "tinker://a/final"}', '{"name": "lost", "state_path": null}']
    write(runs / "tinker" / "checkpoints.jsonl", "\n".join(lines) + "\n")
    return runs


EXPECTED = [
    ("a/out", None, None),
    ("a/out/checkpoint-500", "a/out", "500"),
    ("b/out", None, None),
    ("b/out/checkpoint-500", "b/out", "500"),
    ("lora/checkpoint-7", "lora", "7"),
    ("lora/checkpoint-7/critic", "lora/critic", "7"),
    ("nemo/step_3", "nemo", "3"),
    ("state-only/checkpoint-9", "state-only", "9"),
    ("tinker://a/final", "tinker", "final"),
    ("tinker://a/sampler/10", "tinker", "10"),
    ("verl/global_step_20/actor", "verl/actor", "20"),
    ("verl/global_step_20/critic", "verl/critic", "20"),
]


@pytest.mark.parametrize("kind", ["checkpoints", "auto"])
def test_every_folder_is_a_row_under_its_path(tree: Path, home: Path, kind: str) -> None:
    done = seamline("ingest", kind, tree, home=home)
    assert landed(home, "checkpoint_folders", COLUMNS) == EXPECTED
    assert landed(home, "quarantine", "locator, reason") == [("line 3", "neither a sampler_path nor a state_path")]
    if kind == "auto":
        # what is no checkpoint's is said
        assert "not recognised: 2 files" in done.stdout and "plain/config.json" in done.stdout
        assert "verl/global_step_20/data.pt" in done.stdout


def test_a_step_given_by_itself_is_known_by_its_name_and_its_run_s(tree: Path, home: Path) -> None:
    seamline("ingest", "checkpoints", tree / "a" / "out" / "checkpoint-500", home=home)
    assert landed(home, "checkpoint_folders", COLUMNS) == [("checkpoint-500", "out", "500")]
    # The same folder, given otherwise, is the same source under another id.
    seamline("ingest", "checkpoints", f"{tree}/./a/out/checkpoint-500", home=home)
    assert landed(home, "checkpoint_folders", COLUMNS) == [("a/out/checkpoint-500", "a/out", "500")]


def test_what_its_files_say_lands(tree: Path, home: Path) -> None:
    seamline("ingest", "checkpoints", tree, home=home)
    states = "file_name, global_step, best_metric, best_step, validation_reward"
    assert landed(home, "checkpoint_states", states) == [
        ("trainer_state.json", 9, None, None, None),
        ("trainer_state.json", 500, 0.5, 400, None),
        ("trainer_state.json", 500, 0.5, 400, None),
        ("training_info.json", 3, None, None, None),
    ]
    found = landed(home, "checkpoint_configs", "file_name, architecture, base_model_name, adapter_type")
    assert found.count(("config.json", "Qwen2ForCausalLM", None, None)) == 6
    assert ("adapter_config.json", None, "Q/B", "X") in found and ("adapter_config.json", None, "Q/C", None) in found


def test_eos_tokens_and_what_a_server_must_know(home: Path, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    inner = {"max_position_embeddings": 4096, "dtype": "bfloat16"}
    write(folder / "config.json", {"model_type": "m", "vision_config": {}, "text_config": inner})
    added = {"7": {"content": "<|x|>"}, "8": {"content": "<|y|>"}}
    write(folder / "tokenizer_config.json", {"eos_token": "<|y|>", "added_tokens_decoder": added, "chat_template": "t"})
    other = tmp_path / "other"
    write(other / "config.json", MODEL | {"torch_dtype": "float16", "max_position_embeddings": 10})
    write(other / "tokenizer_config.json", {"eos_token": "<|z|>"})
    write(other / "added_tokens.json", {"<|z|>": 9})
    seamline("ingest", "checkpoints", tmp_path, home=home)
    columns = "dtype, max_position_count, has_vision_config, eos_token, eos_token_ids, has_chat_template"
    assert landed(home, "checkpoint_configs", columns) == [
        ("bfloat16", 4096, True, None, None, None),
        ("float16", 10, False, None, None, None),
        (None, None, None, "<|y|>", [8], True),
        (None, None, None, "<|z|>", [9], False),
    ]


def test_tensors_are_told_by_the_header_and_large_ones_by_samples(home: Path, tmp_path: Path) -> None:
    large = bytes(range(256)) * 1024
    write(tmp_path / "x" / "model.safetensors", weights(small=b"ab", large=large))
    changed = (
        large[:100_000] + b"!" + large[100_001:]
    )  # no sample: those end at 16 KiB, lie around 131,072, or at the end
    write(tmp_path / "y" / "model.safetensors", weights(small=b"ac", large=changed))
    seamline("ingest", "checkpoints", tmp_path, home=home)
    rows = landed(home, "checkpoint_tensors", "tensor_name, dtype, shape, size_bytes, is_sampled, digest")
    assert [row[:5] for row in rows] == [
        ("large", "U8", "262144", 262144, True),
        ("large", "U8", "262144", 262144, True),
        ("small", "U8", "2", 2, False),
        ("small", "U8", "2", 2, False),
    ]
    # sha256sum of "ab" and "ac"
    assert {row[5][:12] for row in rows if row[0] == "small"} == {"fb8e20fc2e4c", "f45de51cdef3"}
    assert rows[0][5] == rows[1][5]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "no safetensors header in 0 bytes"),
        (b"x", "no safetensors header in 1 bytes"),
        (struct.pack("<Q", 1 << 40) + b"{}", "no safetensors header in 10 bytes"),
        (weights(a=b"123456")[:-2], "cut short: tensor a ends at byte"),
        (struct.pack("<Q", 2) + b"[]", "not a JSON object but array"),
        (struct.pack("<Q", 8) + b'{"a": 1}', "tensor a has no place in the file"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n", None),
    ],
)
def test_weights_that_can_t_be_read_say_why(home: Path, tmp_path: Path, content: bytes, problem: str | None) -> None:
    write(tmp_path / "x" / "model.safetensors", content)
    seamline("ingest", "checkpoints", tmp_path, home=home)
    [(told,)] = landed(home, "checkpoint_files", "problem")
    assert told is None if problem is None else told.startswith(problem)


def test_companions_are_counted_beside_their_cell_and_nowhere_else(cell: Path, home: Path) -> None:
    write(cell / "checkpoints" / "sft" / "1" / "config.json", MODEL)
    record = cell.with_name("kimi-record")
    write(record / "RUNLOG.md", "what happened")
    write(record / "configs" / "a.yaml", "x: 1")
    write(record / "configs" / "deep" / "b.yaml", "y: 2")
    write(cell.with_name("kimi-data") / "corpus.jsonl", '{"text": "a"}\n')
    write(cell.with_name("train-data") / "corpus.jsonl", '{"text": "a"}\n')
    write(cell.with_name("train") / "notes.md", "no cell")
    seamline("ingest", "checkpoints", cell.parent, home=home)
    assert landed(home, "hub_companions", "repo, repo_type, source_kind") == [
        ("lab/kimi-data", None, "folder"), ("lab/kimi-record", None, "folder")
    ]  # fmt: skip
    assert landed(home, "companion_entries", "repo, entry, file_count, size_bytes") == [
        ("lab/kimi-data", "corpus.jsonl", 1, 14),
        ("lab/kimi-record", "RUNLOG.md", 1, 13),
        ("lab/kimi-record", "configs/", 2, 8),
    ]
