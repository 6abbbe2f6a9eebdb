"""The calls that one line of a log holds: one around a response, a response itself, or judge calls nested in it."""

from collections.abc import Iterator
from dataclasses import dataclass

from ingest.formats.json_lines import take_columns
from ingest.formats.json_values import ARRAYS, OBJECTS, Fields, object_items
from ingest.formats.values import as_boolean, as_number, as_text, as_time
from ingest.teacher_calls.usage import counts_tokens, usage_columns, usage_in

JUDGED = "judge_evaluations"
"""NeMo-Gym's key for its judge's calls. Beside it stands the policy's own response, which is no call of a teacher."""

PLACE = (
    ("run_id", "run_id", "text"),
    ("step", "step", "integer"),
    ("group_id", "group_id", "text"),
    ("role", "role", "text"),
)
_COST_KEYS = ("response_cost", "spend")
_LITELLM_KEYS = set(_COST_KEYS)
"""litellm's StandardLoggingPayload and its spend log keep counts and cost on the record itself."""
OWN = (
    ("call_id", "call_id", "text"),
    ("model", "model", "text"),
    ("cost_usd", "cost_usd", "number"),
    ("created_at", "created_at", "time"),
    *PLACE,
)
CALL_KEYS = {"response", "usage", "call_id", JUDGED, "usageMetadata", "usage_metadata", "choices", "candidates"}
CALL_KEYS |= _LITELLM_KEYS
"""A line with one of them is the record of a call, or of a rollout around one."""
_MODEL_KEYS = ("model", "modelVersion", "model_version")
_TIMES = ("timestamp", "startTime", "start_time")
_RESPONSE_KEYS = {"object", "choices", "candidates", "output", "content", "created", "responseId", *_LITELLM_KEYS}
"""What the APIs' own objects hold: the `id` of a line with one of them names the response, not the line."""
_ROLLOUT_KEYS = {"reward", "rewards", "advantage", "advantages", "trajectory", "trajectory_id", "rollout_id"}
"""Keys of a trajectory that was sampled for training or evaluation: its model is the policy."""


@dataclass(frozen=True)
class _Found:
    """A call's response (the line itself where it is one) and its usage, each empty where there is none."""

    response: Fields
    usage: Fields
    is_line: bool


def calls_of(fields: Fields) -> Iterator[Fields]:
    """The calls of a line, as columns: its judge calls, or the line itself. A line that only holds the policy's own
    response is one row that says so. None where a line is no record of a call."""
    nested = judge_calls(fields)
    if nested:
        yield from _judge_rows(fields, nested)
    elif JUDGED in fields or _is_policy_response(fields):
        yield _call(fields, {}) | {"judge_idx": None, "is_policy_response": True}
    elif not CALL_KEYS.isdisjoint(fields) or _batch_message(fields):
        yield _call(fields, {}) | {"judge_idx": None}


def is_call(fields: Fields) -> bool:
    """Whether a line states a call beyond doubt: a usage object and a model in one record, which is no rollout."""
    if nested := judge_calls(fields):
        return any(_has_usage_and_model(item) for item in nested)
    return JUDGED not in fields and _ROLLOUT_KEYS.isdisjoint(fields) and _has_usage_and_model(fields)


def may_be_followed_by_a_call(fields: Fields) -> bool:
    """Whether a line without a call is of a log that may still hold one: a chunk of a response, an unjudged rollout."""
    return JUDGED in fields or "chunk" in (as_text(fields.get("object")) or "")


def judge_calls(fields: Fields) -> list[Fields]:
    """The nested judge calls of a line: members of judge_evaluations with a `response` key."""
    nested = fields.get(JUDGED)
    items = nested if isinstance(nested, ARRAYS) else ()
    return [dict(item.items()) for item in items if isinstance(item, OBJECTS) and "response" in item]


def _has_usage_and_model(fields: Fields) -> bool:
    found = _find(fields)
    return counts_tokens(found.usage) and (_model_of(found.response) or as_text(fields.get("model"))) is not None


def _is_policy_response(fields: Fields) -> bool:
    """Whether a line is a rollout of NeMo-Gym that knows no judge: what was asked, answered and rewarded."""
    return {"responses_create_params", "response", "reward"} <= fields.keys()


def _judge_rows(fields: Fields, nested: list[Fields]) -> Iterator[Fields]:
    place = take_columns(dict(fields), PLACE)
    for index, item in enumerate(nested):
        yield _call(item, place) | {"judge_idx": index}


def _find(fields: Fields) -> _Found:
    """A call's response: `response` (its `body` in a pair of HTTP messages or a batch), the message of an Anthropic
    batch, or the line itself."""
    outer = object_items(fields.get("response"))
    response = object_items(outer.get("body")) or outer or _batch_message(fields)
    usage = usage_in(response) or usage_in(fields) or object_items(_metadata(fields).get("usage_object"))
    if not usage and not _LITELLM_KEYS.isdisjoint(fields):
        usage = {key: fields[key] for key in ("prompt_tokens", "completion_tokens", "total_tokens") if key in fields}
    is_line = not response and "response" not in fields
    return _Found(fields if is_line else response, usage, is_line)


def _batch_message(fields: Fields) -> Fields:
    return object_items(object_items(fields.get("result")).get("message"))


def _metadata(fields: Fields) -> Fields:
    return object_items(fields.get("metadata")) if "response_cost" in fields else {}


def _model_of(response: Fields) -> str | None:
    return next((name for key in _MODEL_KEYS if key in response and (name := as_text(response[key])) is not None), None)


def _call(fields: Fields, place: Fields) -> Fields:
    """One call's columns. `place` gives what a nested call does not state itself."""
    found = _find(fields)
    response = found.response
    row = usage_columns(found.usage) | {
        "has_usage": bool(found.usage),
        "is_policy_response": False,
        "response_id": None,
    }
    if not found.is_line or not _RESPONSE_KEYS.isdisjoint(fields):
        row["response_id"] = _first_name(response, ("id", "responseId", "response_id", "request_id"))
    row["response_model"] = _model_of(response) or _asked_model(fields)
    row["response_object"] = _kind_of_response(fields, response)
    row["response_created_at"] = _first_time(response, ("created_at", "created", "createTime", "create_time"))
    row["service_tier"] = row["service_tier"] or as_text(response.get("service_tier"))
    if "custom_id" in fields:  # how both OpenAI and Anthropic name the requests of a batch, which has prices of its own
        row["service_tier"] = "batch"
    row["is_cache_hit"] = as_boolean(fields.get("cache_hit"))
    row |= take_columns(fields, OWN)
    if row["created_at"] is None:
        row["created_at"] = _first_time(fields, _TIMES)
    if row["cost_usd"] is None:
        row["cost_usd"] = next((as_number(fields[key]) for key in _COST_KEYS if key in fields), None)
    for name, value in place.items():
        if row[name] is None:
            row[name] = value
    return row


def _asked_model(fields: Fields) -> str | None:
    """The model that a request names, of a pair of messages whose answer names none."""
    request = object_items(fields.get("request"))
    return as_text(request.get("model")) or as_text(object_items(request.get("body")).get("model"))


def _kind_of_response(fields: Fields, response: Fields) -> str | None:
    """What a response says it is (`object`), or the event of a stream that brought it (`type`)."""
    event = as_text(fields.get("type"))
    return event if event and event.startswith("response.") else as_text(response.get("object"))


def _first_name(fields: Fields, keys: tuple[str, ...]) -> str | None:
    """The first of some keys that holds a text. A number is no id of a response: loggers number their lines."""
    return next((as_text(fields[key]) for key in keys if isinstance(fields.get(key), str)), None)


def _first_time(fields: Fields, keys: tuple[str, ...]) -> object:
    return next((moment for key in keys if key in fields and (moment := as_time(fields[key])) is not None), None)
