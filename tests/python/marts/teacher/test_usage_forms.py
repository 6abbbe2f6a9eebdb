"""Usage objects as their providers define them: tokens and costs worked out by hand from each definition."""

from typing import Any

import pytest

from ingest.teacher_calls.calls import calls_of
from tests.python.support.round_marts import START, calls, findings

PRICES = [
    {
        "model_pattern": "*",
        "input_usd_per_million": 4.0,
        "cached_input_usd_per_million": 1.0,
        "output_usd_per_million": 10.0,
        "cache_write_usd_per_million": 5.0,
        "cache_write_1h_usd_per_million": 8.0,
    }
]
PARTS = (
    "usage_form, input_tokens, cached_input_tokens, cache_write_tokens, cache_write_1h_tokens, output_tokens, "
    "reasoning_tokens"
)


def landed(number: int, line: dict[str, Any]) -> list[dict[str, Any]]:
    """The rows that the reader lands of one line, in run `run` at START."""
    rows = [dict(row) for row in calls_of(dict(line))]
    return [
        row | {"source_name": "calls", "line_number": number, "run_in_path": "run", "created_at": START} for row in rows
    ]


def of(usage: dict[str, Any], model: str = "teacher", holder: str = "usage", **fields: Any) -> list[dict[str, Any]]:
    """A call whose response states this usage."""
    return landed(1, {"call_id": "c", "response": {"id": "r", "model": model, holder: usage}} | fields)


OPENAI = {
    "prompt_tokens": 1000,
    "completion_tokens": 300,
    "total_tokens": 1300,
    "prompt_tokens_details": {"cached_tokens": 600},
    "completion_tokens_details": {"reasoning_tokens": 200},
}
RESPONSES = {
    "input_tokens": 1000,
    "input_tokens_details": {"cached_tokens": 600, "cache_write_tokens": 100},
    "output_tokens": 300,
    "output_tokens_details": {"reasoning_tokens": 200},
    "total_tokens": 1300,
}
ANTHROPIC = {
    "input_tokens": 10,
    "cache_creation_input_tokens": 3000,
    "cache_read_input_tokens": 2000,
    "cache_creation": {"ephemeral_5m_input_tokens": 1000, "ephemeral_1h_input_tokens": 2000},
    "output_tokens": 50,
    "service_tier": "standard",
}
GEMINI = {
    "promptTokenCount": 1000,
    "cachedContentTokenCount": 400,
    "candidatesTokenCount": 100,
    "thoughtsTokenCount": 500,
    "toolUsePromptTokenCount": 50,
    "totalTokenCount": 1650,
}
SDK_GEMINI = {
    "prompt_token_count": 21,
    "thoughts_token_count": 60,
    "total_token_count": 81,
    "candidates_token_count": None,
}
COMPATIBLE = {"prompt_tokens": 100, "completion_tokens": 40, "total_tokens": 200}
XAI = {
    "prompt_tokens": 32,
    "completion_tokens": 9,
    "total_tokens": 135,
    "prompt_tokens_details": {"text_tokens": 32, "cached_tokens": 6},
    "completion_tokens_details": {"reasoning_tokens": 94},
    "num_sources_used": 0,
}
DEEPSEEK = {
    "prompt_tokens": 500,
    "completion_tokens": 20,
    "total_tokens": 520,
    "prompt_cache_hit_tokens": 448,
    "prompt_cache_miss_tokens": 52,
}
LITELLM = {
    "prompt_tokens": 5010,
    "completion_tokens": 50,
    "total_tokens": 5060,
    "prompt_tokens_details": {"cached_tokens": 2000},
    "cache_creation_input_tokens": 3000,
    "cache_read_input_tokens": 2000,
}


@pytest.mark.parametrize(
    ("rows", "parts", "micro_usd"),
    [
        # 400 x 4 + 600 x 1 + 300 x 10; reasoning is part of the 300.
        (of(OPENAI), ("openai", 1000, 600, None, None, 300, 200), 5200),
        # 300 x 4 + 600 x 1 + 100 x 5 + 300 x 10.
        (of(RESPONSES), ("openai", 1000, 600, 100, None, 300, 200), 5300),
        # 10 x 4 + 2,000 x 1 + 1,000 x 5 + 2,000 x 8 + 50 x 10: input leaves out what was read and written.
        (of(ANTHROPIC), ("anthropic", 5010, 2000, 1000, 2000, 50, None), 23540),
        (of(ANTHROPIC | {"total_tokens": 60}), ("anthropic", 5010, 2000, 1000, 2000, 50, None), 23540),
        (of(ANTHROPIC | {"total_tokens": 5060}), ("anthropic", 5010, 2000, 1000, 2000, 50, None), 23540),
        # Without a kind, writes are those of five minutes: 10 x 4 + 2,000 x 1 + 3,000 x 5 + 50 x 10.
        (of(ANTHROPIC | {"cache_creation": None}), ("anthropic", 5010, 2000, 3000, None, 50, None), 17540),
        # A stated 0 is 0.
        (
            of({"input_tokens": 8, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": 1}),
            ("anthropic", 8, 0, 0, None, 1, None),
            42,
        ),
        # 600 + 50 fresh, 400 cached, and 100 + 500 out.
        (of(GEMINI, holder="usageMetadata"), ("gemini", 1050, 400, None, None, 600, 500), 9000),
        # What is 0 is left out: nothing but thoughts came back.
        (of(SDK_GEMINI, holder="usage_metadata"), ("gemini", 21, None, None, None, 60, 60), 684),
        # 100 x 4 + (200 - 100) x 10, of which 60 are thinking.
        (of(COMPATIBLE, "google/gemini-3-pro"), ("thinking_outside", 100, None, None, None, 100, 60), 1400),
        # 32 + 9 + 94 = 135: 26 x 4 + 6 x 1 + 103 x 10.
        (of(XAI, "grok-4"), ("thinking_outside", 32, 6, None, None, 103, 94), 1140),
        # 52 x 4 + 448 x 1 + 20 x 10.
        (of(DEEPSEEK), ("deepseek", 500, 448, None, None, 20, None), 856),
        # litellm counts reads and writes into the prompt: 10 x 4 + 2,000 x 1 + 3,000 x 5 + 50 x 10.
        (of(LITELLM), ("openai", 5010, 2000, 3000, None, 50, None), 17540),
        # vLLM leaves details null; Mistral names its cached tokens on top.
        (
            of(COMPATIBLE | {"total_tokens": 140, "prompt_tokens_details": None}),
            ("openai", 100, None, None, None, 40, None),
            800,
        ),
        (
            of(COMPATIBLE | {"total_tokens": 140, "num_cached_tokens": 20}),
            ("openai", 100, 20, None, None, 40, None),
            740,
        ),
        # An embedding has no completion: its total is its prompt.
        (of({"prompt_tokens": 70, "total_tokens": 70}), ("openai", 70, None, None, None, 0, None), 280),
    ],
)
def test_each_form_by_its_own_definition(rows: list[dict], parts: tuple, micro_usd: int) -> None:
    models = calls(rows, PRICES)
    assert models.rows(f"select {PARTS} from teacher_calls") == [parts]
    ((cost, source),) = models.rows("select round(cost_usd * 1e6, 6), cost_source from teacher_calls")
    assert (cost, source) == (micro_usd, "priced")
    assert findings(models) == set()


@pytest.mark.parametrize(
    "rows",
    [
        of(COMPATIBLE),
        of(COMPATIBLE | {"completion_tokens_details": {"reasoning_tokens": 30}}),
        of(COMPATIBLE | {"total_tokens": 120}, "gemini-3-pro"),
        of(GEMINI | {"totalTokenCount": 1600}, holder="usageMetadata"),
        of(DEEPSEEK | {"prompt_cache_miss_tokens": 51}),
        of(ANTHROPIC | {"cache_creation_input_tokens": 2999}),
        of(ANTHROPIC | {"total_tokens": 5000}),
    ],
)
def test_a_total_that_no_known_form_explains_leaves_the_cost_unknown(rows: list[dict]) -> None:
    models = calls(rows, PRICES)
    assert models.rows("select cost_usd, cost_source, unknown_cost_reason from teacher_calls") == [
        (None, "unknown", "token_conflict")
    ]
    assert {kind for kind, _ in findings(models)} == {"token_conflict", "unknown_cost"}
    ((detail,),) = models.rows("select detail from teacher_findings where kind = 'token_conflict'")
    assert detail.startswith("1 calls") and "(first: c)" in detail


def test_thinking_that_a_count_contradicts_is_unknown_but_billed() -> None:
    usage = COMPATIBLE | {"completion_tokens_details": {"reasoning_tokens": 50}}
    models = calls(of(usage, "gemini-3-pro"), PRICES)
    assert models.rows("select output_tokens, reasoning_tokens, cost_source from teacher_calls") == [
        (100, None, "priced")
    ]


BYOK = {"cost": 0.001, "is_byok": True, "cost_details": {"upstream_inference_cost": 0.02}}
PLAIN = COMPATIBLE | {"total_tokens": 140}


@pytest.mark.parametrize(
    ("rows", "cost", "source"),
    [
        # The fee and what the provider took.
        (of(PLAIN | BYOK), 0.021, "reported"),
        (of(PLAIN | BYOK, cost_usd=0.001), 0.021, "reported"),
        (of(PLAIN | BYOK | {"cost": 0}), 0.02, "reported"),
        # Without what the provider took, its price: 0.0008 and the fee.
        (of(PLAIN | BYOK | {"cost_details": None}), 0.0018, "priced"),
        # A breakdown of the same charge is no second one.
        (of(PLAIN | BYOK | {"is_byok": False, "cost": 0.02}), 0.02, "reported"),
        (of(PLAIN | {"cost": 0.02, "cost_details": {"upstream_inference_cost": 0.02}}), 0.02, "reported"),
        # A charge below the provider's is a fee, whether or not that is said.
        (of(PLAIN | {"cost": 0.95, "cost_details": {"upstream_inference_cost": 19}}), 19.95, "reported"),
        # xAI: 10,000,000,000 ticks are a USD.
        (of(PLAIN | {"cost_in_usd_ticks": 2_709_000}), 0.0002709, "reported"),
        # litellm: a cost that it knows, one that it does not, and an answer out of its own cache.
        (of(PLAIN, response_cost=0.5), 0.5, "reported"),
        (of(PLAIN, response_cost=0.0), 0.0008, "priced"),
        (of(PLAIN, response_cost=0.0, cache_hit=True), 0.0, "reported"),
    ],
)
def test_what_a_call_says_it_cost(rows: list[dict], cost: float, source: str) -> None:
    models = calls(rows, PRICES)
    ((got, where),) = models.rows("select round(cost_usd, 10), cost_source from teacher_calls")
    assert (got, where) == (cost, source)


@pytest.mark.parametrize(
    ("prices", "rows", "cost"),
    [
        ({"cache_write_usd_per_million": None}, of(ANTHROPIC), None),
        ({"cache_write_1h_usd_per_million": None}, of(ANTHROPIC), None),
        ({"cached_input_usd_per_million": None}, of(ANTHROPIC), None),
        ({"cache_write_1h_usd_per_million": None}, of(ANTHROPIC | {"cache_creation": None}), 0.01754),
        # 400 x 4 + 600 x 1 + 100 x 10 + 200 x 20.
        ({"reasoning_usd_per_million": 20.0}, of(OPENAI), 0.0072),
        ({"reasoning_usd_per_million": 20.0}, of(ANTHROPIC), None),
        # A batch has prices of its own: half of 0.0052 where they are declared, unknown where not.
        ({}, of(OPENAI, custom_id="1"), None),
        ({"service_tier": "batch", "input_usd_per_million": 2.0}, of(OPENAI, custom_id="1"), 0.0044),
        ({"service_tier": "batch"}, of(OPENAI), None),
        ({}, of(OPENAI | {"service_tier": "default"}), 0.0052),
        ({}, of(OPENAI | {"service_tier": "flex"}), None),
        # Searches are billed beside tokens.
        ({}, of(ANTHROPIC | {"server_tool_use": {"web_search_requests": 1}}), None),
        ({}, of(ANTHROPIC | {"server_tool_use": {"web_search_requests": 0}}), 0.02354),
        ({}, of(XAI | {"num_sources_used": 3}, "grok-4"), None),
    ],
)
def test_a_price_that_a_call_needs_and_the_file_lacks(prices: dict, rows: list[dict], cost: float | None) -> None:
    models = calls(rows, [PRICES[0] | prices])
    ((got,),) = models.rows("select round(cost_usd, 10) from teacher_calls")
    assert got == cost


def test_an_incomplete_price_is_a_finding() -> None:
    models = calls(of(ANTHROPIC), [PRICES[0] | {"cache_write_1h_usd_per_million": None}])
    assert findings(models) == {("price_incomplete", "*"), ("unknown_cost", "run teacher")}
    ((detail,),) = models.rows("select detail from price_findings where kind = 'price_incomplete'")
    assert "2000 tokens read" in detail and "1000 written" in detail and "2000 for an hour" in detail
