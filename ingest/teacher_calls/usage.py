"""What a call's usage object states, by the providers' own names. What the names mean is said in SQL
(macros/usage_forms.sql), which turns each provider's form into one."""

from collections.abc import Callable
from typing import Any

from ingest.formats.json_values import Fields, object_items
from ingest.formats.values import as_boolean, as_integer, as_number, as_text

HOLDERS = ("usage", "usageMetadata", "usage_metadata")
"""Where a response keeps its usage: `usageMetadata` is Gemini's, `usage_metadata` its Python SDK's and LangChain's."""

Cell = tuple[str, Callable[[Any], object]]
"""The landed column that a value goes to, and what the value is taken for."""

COUNTS: dict[str, str] = {
    "input_tokens": "input_tokens",
    "prompt_tokens": "prompt_tokens",
    "output_tokens": "output_tokens",
    "completion_tokens": "completion_tokens",
    "total_tokens": "total_tokens",
    "cache_read_input_tokens": "cache_read_input_tokens",
    "cache_creation_input_tokens": "cache_creation_input_tokens",
    "prompt_cache_hit_tokens": "prompt_cache_hit_tokens",
    "prompt_cache_miss_tokens": "prompt_cache_miss_tokens",
    "cached_tokens": "prompt_cached_tokens",
    "num_cached_tokens": "prompt_cached_tokens",
    "num_sources_used": "search_count",
    "promptTokenCount": "prompt_token_count",
    "prompt_token_count": "prompt_token_count",
    "cachedContentTokenCount": "cached_content_token_count",
    "cached_content_token_count": "cached_content_token_count",
    "candidatesTokenCount": "candidates_token_count",
    "candidates_token_count": "candidates_token_count",
    "thoughtsTokenCount": "thoughts_token_count",
    "thoughts_token_count": "thoughts_token_count",
    "toolUsePromptTokenCount": "tool_use_prompt_token_count",
    "tool_use_prompt_token_count": "tool_use_prompt_token_count",
    "totalTokenCount": "total_token_count",
    "total_token_count": "total_token_count",
}
"""Landed column of each count of a usage object."""

PLAIN: dict[str, Cell] = {key: (column, as_integer) for key, column in COUNTS.items()} | {
    "cost": ("usage_cost", as_number),
    "cost_in_usd_ticks": ("cost_usd_ticks", as_number),
    "is_byok": ("is_byok", as_boolean),
    "service_tier": ("service_tier", as_text),
}
NESTED: dict[str, dict[str, Cell]] = {
    "input_tokens_details": {
        "cached_tokens": ("input_cached_tokens", as_integer),
        "cache_write_tokens": ("input_cache_write_tokens", as_integer),
    },
    "input_token_details": {
        "cache_read": ("input_cached_tokens", as_integer),
        "cache_creation": ("input_cache_write_tokens", as_integer),
    },
    "prompt_tokens_details": {
        "cached_tokens": ("prompt_cached_tokens", as_integer),
        "cache_write_tokens": ("prompt_cache_write_tokens", as_integer),
        "cache_creation_tokens": ("prompt_cache_write_tokens", as_integer),
    },
    "output_tokens_details": {"reasoning_tokens": ("output_reasoning_tokens", as_integer)},
    "output_token_details": {"reasoning": ("output_reasoning_tokens", as_integer)},
    "completion_tokens_details": {"reasoning_tokens": ("completion_reasoning_tokens", as_integer)},
    "cache_creation": {
        "ephemeral_5m_input_tokens": ("cache_creation_5m_tokens", as_integer),
        "ephemeral_1h_input_tokens": ("cache_creation_1h_tokens", as_integer),
    },
    "cost_details": {"upstream_inference_cost": ("upstream_cost_usd", as_number)},
    "server_tool_use": {"web_search_requests": ("search_count", as_integer)},
}
COLUMNS = sorted({cell[0] for cells in (PLAIN, *NESTED.values()) for cell in cells.values()})


def usage_columns(usage: Fields) -> Fields:
    """The landed columns of a usage object; null where it does not state one.

    A value that stands in two places is taken from the first of them that states it.
    """
    row: Fields = dict.fromkeys(COLUMNS)
    for key, value in usage.items():
        if value is None:
            continue
        if key in PLAIN:
            _put(row, PLAIN[key], value)
        elif key in NESTED:
            for name, part in object_items(value).items():
                if name in NESTED[key]:
                    _put(row, NESTED[key][name], part)
    return row


def _put(row: Fields, cell: Cell, value: object) -> None:
    column, convert = cell
    if row[column] is None:
        row[column] = convert(value)


def usage_in(record: Fields) -> Fields:
    """The usage object of a response or a record around one; empty where it has none with a member."""
    return next((usage for holder in HOLDERS if (usage := object_items(record.get(holder)))), {})


def counts_tokens(usage: Fields) -> bool:
    """Whether a usage object holds a count of a form that is known."""
    return not COUNTS.keys().isdisjoint(usage)
