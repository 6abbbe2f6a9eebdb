"""Prices of teacher models on rows worked out by hand: patterns, days, choices."""

from datetime import date, timedelta

import pytest

from tests.python.support.round_marts import PRICE, START, call, calls, findings

COST = "select cost_usd, cost_source from teacher_calls"


def test_a_cached_price_that_is_unknown_leaves_only_cached_calls_unknown() -> None:
    rows = [call(1, input_cached_tokens=0), call(2), call(3, input_cached_tokens=1)]
    models = calls(rows, [PRICE | {"cached_input_usd_per_million": None}])
    assert models.rows("select call_id, cost_source from teacher_calls order by 1") == [
        ("c1", "priced"),
        ("c2", "priced"),
        ("c3", "unknown"),
    ]


def price(pattern: str, valid_from: date | None, output: float) -> dict:
    """Input is free, so that 100 output tokens at `output` thousands cost a tenth of it."""
    return {
        "model_pattern": pattern,
        "valid_from": valid_from,
        "input_usd_per_million": 0.0,
        "output_usd_per_million": output * 1000,
    }


TODAY = START.date()
DAY = timedelta(days=1)


@pytest.mark.parametrize(
    ("prices", "cost"),
    [
        ([price("*", None, 1), price("luna*", None, 2), price("lun?", None, 3)], 0.2),
        ([price("luna", TODAY - 2 * DAY, 1), price("luna", TODAY, 2), price("luna", TODAY + DAY, 3)], 0.2),
        ([price("luna", None, 1), price("luna", TODAY - DAY, 2)], 0.2),
        # The longest of those in force, not of all.
        ([price("lun*", None, 1), price("luna", TODAY + DAY, 2)], 0.1),
        ([price("luna*", TODAY - 2 * DAY, 1), price("lu*", TODAY, 2)], 0.1),
        ([price("luna", TODAY + DAY, 1)], None),
        # Given twice alike is one price; two that fit equally well are none.
        ([price("luna", TODAY, 1), price("luna", TODAY, 1)], 0.1),
        ([price("luna", TODAY, 1), price("luna", TODAY, 2)], None),
        ([price("lun?", TODAY, 1), price("luna", TODAY, 2)], None),
        ([price("luna", None, 0)], 0.0),
        ([price("LUNA", None, 1)], None),
        ([price("l.na", None, 1)], None),
        ([], None),
    ],
)
def test_the_price_of_a_day(prices: list[dict], cost: float | None) -> None:
    models = calls([call(1)], prices)
    ((got, _),) = models.rows(COST)
    assert got == (cost if cost is None else pytest.approx(cost, abs=1e-12))


def test_prices_that_leave_a_choice_are_findings() -> None:
    twice = [price("luna", TODAY, 1), price("luna", TODAY, 2), price("x", None, 1), price("x", None, 1)]
    assert findings(calls([call(1)], twice)) == {
        ("price_starts_twice", f"luna {TODAY}"),
        ("price_starts_twice", "x always"),
        ("price_ambiguous", "luna"),
        ("unknown_cost", "run luna"),
    }


@pytest.mark.parametrize("column", ["input_usd_per_million", "cached_input_usd_per_million", "output_usd_per_million"])
def test_a_negative_price_is_a_finding(column: str) -> None:
    models = calls([call(1, input_cached_tokens=5)], [PRICE | {column: -0.5}])
    kinds = {("price_negative", "luna"), ("price_incomplete", "luna"), ("unknown_cost", "run luna")}
    assert findings(models) == kinds


def test_a_call_at_an_unknown_time_has_only_prices_that_always_hold() -> None:
    filler = START.replace(year=1970)
    rows = [
        call(1, created_at=filler),
        call(2, created_at=None),
        call(3, created_at=filler, response_created_at=START),
        call(4, created_at=START, response_created_at=START + 9 * DAY),
    ]
    times = "select call_id, called_at, cost_usd from teacher_calls order by 1"
    prices = [price("*", None, 1), price("luna", TODAY, 2)]
    models = calls(rows, prices)
    assert [(name, at, round(cost, 9)) for name, at, cost in models.rows(times)] == [
        ("c1", None, 0.1),
        ("c2", None, 0.1),
        ("c3", START, 0.2),
        ("c4", START, 0.2),
    ]
    assert findings(models) == {("call_time_unknown", "run luna")}
