"""What a checkpoint's small metadata files say; the same for folders on disk and repos on the Hub."""

from typing import Any

from ingest.checkpoints.names import STATE_FILES
from ingest.formats.json_values import Fields, json_object, object_items
from ingest.formats.values import Unreadable, as_integer, as_name, as_number, as_text, checked_token_ids

_NEVER_VALIDATED = -99999999.0
"""NeMo-RL's `val_reward` of a step that was not validated."""


def read_metadata(
    folder_idx: int, file_name: str, where: str, raw: bytes
) -> tuple[str, dict[str, Any], tuple[str, str] | None]:
    """(table, its row, what is wrong as (locator, reason) or None) of one metadata file: checkpoint_states of a
    trainer's own word on its progress, checkpoint_configs of all others.

    `eos_token_id` may be a number, a list, null or missing (samples of public models); null counts as missing.
    """
    table = "checkpoint_states" if file_name in STATE_FILES else "checkpoint_configs"
    row = {"folder_idx": folder_idx, "file_name": file_name, "is_readable": False}
    try:
        return table, row | _READERS.get(file_name, _model)(json_object(raw)) | {"is_readable": True}, None
    except Unreadable as problem:
        return table, row, (f"line {problem.line} of {where}", problem.cause)


def _model(found: Fields) -> dict[str, Any]:
    """`config.json` or `generation_config.json`. A model of text and images holds a whole config for its text."""
    inner = object_items(found.get("text_config"))
    architectures = found.get("architectures")
    return {
        "model_name": as_name(found.get("_name_or_path")),
        "model_type": as_name(found.get("model_type")) or as_name(inner.get("model_type")),
        "architecture": as_name(architectures[0]) if isinstance(architectures, list) and architectures else None,
        # transformers 5 writes `dtype`, earlier ones `torch_dtype`
        "dtype": next((d for c in (found, inner) for k in ("dtype", "torch_dtype") if (d := as_name(c.get(k)))), None),
        "max_position_count": next(
            (n for c in (found, inner) if (n := as_integer(c.get("max_position_embeddings"))) is not None), None
        ),
        "has_vision_config": isinstance(found.get("vision_config"), dict),
        "eos_token_ids": checked_token_ids(found.get("eos_token_id"), "eos_token_id"),
        "text_eos_token_ids": checked_token_ids(inner.get("eos_token_id"), "text_config.eos_token_id"),
    }


def _tokenizer(found: Fields) -> dict[str, Any]:
    """`eos_token` is a text; `added_tokens_decoder` of the same file gives its id."""
    token = found.get("eos_token")
    text = as_name(token.get("content") if isinstance(token, dict) else token)
    added = object_items(found.get("added_tokens_decoder"))
    ids = [
        int(key) for key in added if key.isascii() and key.isdigit() and object_items(added[key]).get("content") == text
    ]
    return {
        "eos_token": text,
        "eos_token_ids": ids[:1] if text and ids and len(str(ids[0])) < 19 else None,
        "has_chat_template": found.get("chat_template") is not None,
    }


def _adapter(found: Fields) -> dict[str, Any]:
    return {
        "base_model_name": as_name(found.get("base_model_name_or_path")),
        "adapter_type": as_name(found.get("peft_type")),
    }


def _trainer_state(found: Fields) -> dict[str, Any]:
    """`trainer_state.json` of transformers."""
    return {
        "global_step": as_integer(found.get("global_step")),
        "max_steps": as_integer(found.get("max_steps")),
        "best_metric": as_number(found.get("best_metric")),
        "best_step": as_integer(found.get("best_global_step")),
        "best_checkpoint": as_text(found.get("best_model_checkpoint")),
    }


def _training_info(found: Fields) -> dict[str, Any]:
    """`training_info.json` of NeMo-RL."""
    reward = as_number(found.get("val_reward"))
    step = as_integer(found.get("current_step"))
    return {
        "global_step": as_integer(found.get("step")) if step is None else step,
        "max_steps": as_integer(found.get("total_steps")),
        "validation_reward": None if reward == _NEVER_VALIDATED else reward,
    }


_READERS = {
    "tokenizer_config.json": _tokenizer,
    "adapter_config.json": _adapter,
    "trainer_state.json": _trainer_state,
    "training_info.json": _training_info,
}
"""The other metadata files are configs of a model."""
