"""What a checkpoint's small metadata files say; the same for folders on disk and repos on the Hub."""

from typing import Any

from ingest.formats.json_values import json_object
from ingest.formats.values import Unreadable, as_name, checked_token_ids

JSON_FILES = ("config.json", "generation_config.json", "tokenizer_config.json")
METADATA = frozenset((*JSON_FILES, "chat_template.jinja"))
"""Files that make a folder a checkpoint, next to weights."""


def is_checkpoint_file(name: str) -> bool:
    """Whether a file of this name belongs to a checkpoint: metadata or weights."""
    return name in METADATA or name.endswith((".safetensors", ".safetensors.index.json"))


def read_config(
    folder_idx: int, file_name: str, where: str, raw: bytes
) -> tuple[dict[str, Any], tuple[str, str] | None]:
    """(row of checkpoint_configs, what is wrong as (locator, reason) or None).

    `eos_token_id` may be a number, a list, null or missing (samples of public models); null counts as missing.
    """
    row = dict.fromkeys(("model_name", "model_type", "eos_token_ids", "text_eos_token_ids", "eos_token"))
    row |= {"folder_idx": folder_idx, "file_name": file_name, "is_readable": False}
    try:
        found = json_object(raw)
        inner = found.get("text_config")
        inner = inner if isinstance(inner, dict) else {}
        if file_name == "tokenizer_config.json":
            token = found.get("eos_token")
            row["eos_token"] = as_name(token.get("content") if isinstance(token, dict) else token)
        else:
            row["model_name"] = as_name(found.get("_name_or_path"))
            row["model_type"] = as_name(found.get("model_type")) or as_name(inner.get("model_type"))
            row["eos_token_ids"] = checked_token_ids(found.get("eos_token_id"), "eos_token_id")
            row["text_eos_token_ids"] = checked_token_ids(inner.get("eos_token_id"), "text_config.eos_token_id")
    except Unreadable as problem:
        unknown = {"eos_token_ids": None, "text_eos_token_ids": None}
        return row | unknown, (f"line {problem.line} of {where}", problem.cause)
    return row | {"is_readable": True}, None
