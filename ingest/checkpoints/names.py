"""What the files and folders of a checkpoint are called by who writes them: transformers, PEFT, FSDP, DeepSpeed, verl,
NeMo-RL. Names alone; nothing is opened."""

import re
from pathlib import PurePath

JSON_FILES = ("config.json", "generation_config.json", "tokenizer_config.json", "adapter_config.json")
"""Metadata files that land in checkpoint_configs."""

STATE_FILES = ("trainer_state.json", "training_info.json")
"""What a trainer says of its own progress, beside what it saved; they land in checkpoint_states."""

METADATA = frozenset((*JSON_FILES, "chat_template.jinja", "fsdp_config.json"))
"""Files that make a folder a checkpoint, next to weights."""

_WEIGHTS = re.compile(
    r".+\.safetensors(\.index\.json)?|(pytorch|adapter)_model[\w.-]*\.bin(\.index\.json)?|.+\.gguf"
    r"|consolidated[\w.-]*\.pth|.+\.distcp|model_world_size_\d+_rank_\d+\.pt|mp_rank_\d+\w*_model_states\.pt"
)
_SHARDS = re.compile(r".+\.distcp|model_world_size_\d+_rank_\d+\.pt|mp_rank_\d+\w*_model_states\.pt|fsdp_config\.json")
"""Weights as the ranks of a trainer write them: whatever lies below is a part of the same checkpoint."""

_PARTS = re.compile(
    r".+\.(safetensors|bin|pt|pth|distcp|gguf|jinja|tiktoken|index\.json)|(optimizer|scheduler|rng_state|scaler)\b.*"
    r"|(config|generation_config|adapter_config|fsdp_config|quantize_config|params|model_index)\.json"
    r"|(trainer_state|training_info|latest_checkpoint_status|dataset_statistics)\.json"
    r"|(tokenizer|tokenizer_config|special_tokens_map|added_tokens|vocab|chat_template)\.json"
    r"|(\w+_)?(preprocessor|processor)_config\.json|(tokenizer|sentencepiece\.bpe|spiece)\.model|merges\.txt|vocab\.txt"
    r"|(modeling|configuration|tokenization|processing|image_processing)_\w+\.py|zero_to_fp32\.py"
    r"|README\.md|LICENSE(\.\w+)?|NOTICE(\.\w+)?|USE_POLICY\.md|config\.yaml|latest"
)
_STEP = re.compile(r"(?:checkpoint|global_step|step|iter|iteration)[-_]?(\d+)")


def is_checkpoint_file(name: str) -> bool:
    """Whether a file of this name belongs to a checkpoint and to nothing else: metadata or weights."""
    return name in METADATA or _WEIGHTS.fullmatch(name) is not None


def is_shard(name: str) -> bool:
    """Whether a file of this name holds what one rank of a trainer saved."""
    return _SHARDS.fullmatch(name) is not None


def is_part_name(name: str) -> bool:
    """Whether a file of this name is what a checkpoint's folder usually holds."""
    return _PARTS.fullmatch(name) is not None


def step_of(name: str) -> str | None:
    """The digits of a folder named for its step (`checkpoint-500`, `global_step_20`, `step_7`); null for any other."""
    found = _STEP.fullmatch(name)
    return found[1] if found else None


def family_and_step(model_id: str, above: str) -> tuple[str | None, str | None]:
    """(family, step) of a bare folder by its id; both null where no part of it is named for a step.

    The family is the id without that part: `run/global_step_20/actor` is step 20 of `run/actor`. Where nothing else is
    left it is `above`, the name of the folder that holds it.
    """
    parts = PurePath(model_id).parts
    at = next((idx for idx in reversed(range(len(parts))) if step_of(parts[idx])), None)
    if at is None:
        return None, None
    rest = "/".join(parts[:at] + parts[at + 1 :])
    return (rest if at else "/".join(part for part in (above, rest) if part)) or None, step_of(parts[at])
