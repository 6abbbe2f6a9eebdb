"""The marts of teacher calls on rows worked out by hand: retries, prices, unknown costs, the ledger."""

from datetime import timedelta

import pytest

from tests.python.support.round_marts import START, call, calls, findings

NAN = float("nan")
COST = "select cost_usd, cost_source from teacher_calls"


@pytest.mark.parametrize(
    ("fields", "cost", "source"),
    [
        ({}, 0.02, "priced"),
        # Cached tokens are part of input and billed once: 600 x 10 + 400 x 1 + 100 x 100, by the million.
        ({"input_cached_tokens": 400}, 0.0164, "priced"),
        ({"input_cached_tokens": 1000}, 0.011, "priced"),
        # Reasoning tokens are part of output.
        ({"output_reasoning_tokens": 90}, 0.02, "priced"),
        # The other API's names, also where they stand in a Responses object.
        ({"input_tokens": None, "prompt_tokens": 1000, "prompt_cached_tokens": 400}, 0.0164, "priced"),
        ({"output_tokens": None, "completion_tokens": 200}, 0.03, "priced"),
        ({"cost_usd": 0.5}, 0.5, "reported"),
        ({"usage_cost": 0.25}, 0.25, "reported"),
        ({"cost_usd": 0.5, "usage_cost": 0.25}, 0.5, "reported"),
        ({"cost_usd": 0.0, "usage_cost": 0.25}, 0.25, "reported"),
        # A zero is no report: priced where there is a price, else unknown, never free.
        ({"cost_usd": 0.0}, 0.02, "priced"),
        ({"cost_usd": -1.0}, 0.02, "priced"),
        ({"cost_usd": NAN}, 0.02, "priced"),
        ({"cost_usd": float("inf")}, 0.02, "priced"),
        ({"usage_cost": float("inf")}, 0.02, "priced"),
        ({"usage_cost": 0.0, "model": "other"}, None, "unknown"),
        ({"model": "other"}, None, "unknown"),
        ({"model": None}, None, "unknown"),
        ({"input_tokens": None}, None, "unknown"),
        ({"output_tokens": None}, None, "unknown"),
        ({"input_tokens": 0, "output_tokens": 0}, 0.0, "priced"),
        ({"input_tokens": -5}, None, "unknown"),
        ({"output_tokens": -5}, None, "unknown"),
        ({"input_cached_tokens": -5}, None, "unknown"),
        ({"input_cached_tokens": 1001}, None, "unknown"),
        # An empty model gives way to the response's.
        ({"model": " ", "response_model": "luna"}, 0.02, "priced"),
        ({"model": "other", "response_model": "luna"}, None, "unknown"),
    ],
)
def test_the_cost_of_a_call(fields: dict, cost: float | None, source: str) -> None:
    ((got, where),) = calls([call(1, **fields)]).rows(COST)
    assert (got if got is None else pytest.approx(got, abs=1e-12), where) == (cost, source)


def test_the_last_try_with_usage_stands() -> None:
    late = START + timedelta(minutes=5)
    rows = [
        # By time, whatever the line.
        call(1, call_id="a", created_at=late, output_tokens=11),
        call(2, call_id="a", output_tokens=12),
        # The last one has no usage.
        call(3, call_id="b", output_tokens=21),
        call(4, call_id="b", created_at=late, input_tokens=None, output_tokens=None),
        # Of one time, by file and line.
        call(5, call_id="c", output_tokens=31),
        call(6, call_id="c", output_tokens=32),
        call(1, "later", call_id="d", output_tokens=42),
        call(7, call_id="d", output_tokens=41),
        # One half of a usage is a usage.
        call(8, call_id="e", output_tokens=51, input_tokens=None),
        call(9, call_id="e", input_tokens=None, output_tokens=None),
        call(10, call_id="f", input_tokens=61, output_tokens=None),
        call(11, call_id="f", input_tokens=None, output_tokens=None),
        call(12, call_id="g", created_at=None, output_tokens=72),
        call(13, call_id="g", output_tokens=71),
    ]
    models = calls(rows)
    assert models.rows("select call_id, coalesce(output_tokens, input_tokens) from teacher_calls order by 1") == [
        ("a", 11),
        ("b", 21),
        ("c", 32),
        ("d", 42),
        ("e", 51),
        ("f", 61),
        ("g", 71),
    ]
    retried = "select drop_reason, count(*) from teacher_call_rows group by 1 order by 1 nulls first"
    assert models.rows(retried) == [(None, 7), ("retried", 7)]
    (detail,) = models.rows("select detail from teacher_findings where kind = 'retried_calls'")
    assert detail[0].startswith("7 rows are earlier tries of a call, 4 of them with usage")


def test_a_call_is_named_by_its_id_its_response_or_its_place() -> None:
    rows = [
        call(1, call_id="own", response_id="r1"),
        call(2, call_id="", response_id="r2"),
        call(3, call_id=None, response_id=None),
        call(4, call_id=None, response_id="", judge_idx=0),
        call(4, call_id=None, response_id=None, judge_idx=1),
        call(5, call_id="both", judge_idx=0, output_tokens=1),
        call(5, call_id="both", judge_idx=1, output_tokens=2),
    ]
    models = calls(rows)
    names = [("both",), ("calls:3",), ("calls:4:0",), ("calls:4:1",), ("own",), ("r2",)]
    assert models.rows("select call_id from teacher_calls order by 1") == names
    assert models.rows("select output_tokens from teacher_calls where call_id = 'both'") == [(2,)]


def test_what_a_call_does_not_say_is_unknown() -> None:
    rows = [
        call(1, run_id=None, step=None, role=None, model=None),
        call(2, run_id="", run_in_path="folder", role=""),
        call(3, cost_usd=0.0, model="other"),
    ]
    models = calls(rows)
    costs = "run_id, step, role, call_count, round(known_cost_usd, 9), unknown_cost_call_count"
    assert models.rows(f"select {costs} from teacher_costs order by 1") == [
        ("folder", 1, "unknown", 1, 0.02, 0),
        ("run", 1, "verifier", 1, None, 1),
        ("unknown", None, "unknown", 1, None, 1),
    ]
    assert findings(models) == {
        ("unknown_cost", "unknown model unknown"),
        ("unknown_cost", "run other"),
        ("zero_cost_reported", "run other"),
    }


def test_costs_are_summed_by_step_and_role_without_diagnostics() -> None:
    rows = [
        call(1, input_cached_tokens=0, output_reasoning_tokens=7),
        call(2, cost_usd=0.5, input_cached_tokens=10),
        call(3, model="other"),
        call(4, role="rubric"),
        call(5, step=2),
        call(6, run_id="check", cost_usd=9.0),
    ]
    models = calls(rows, run_roles=[{"run_id": "check", "role": "diagnostic"}])
    columns = """step, role, call_count, round(known_cost_usd, 9), unknown_cost_call_count, reported_cost_call_count,
        priced_cost_call_count, known_input_tokens, known_cached_input_tokens, known_output_tokens,
        known_reasoning_tokens"""
    assert models.rows(f"select {columns} from teacher_costs order by 1, 2") == [
        (1, "rubric", 1, 0.02, 0, 0, 1, 1000, None, 100, None),
        (1, "verifier", 3, 0.52, 1, 1, 1, 3000, 10, 300, 7),
        (2, "verifier", 1, 0.02, 0, 0, 1, 1000, None, 100, None),
    ]
    assert models.rows("select call_id from teacher_calls where is_diagnostic") == [("c6",)]


def test_absurd_figures_do_not_stop_a_build() -> None:
    rows = [call(1, cost_usd=1e300, input_tokens=2**62), call(2, cost_usd=0.5, input_tokens=2**62)]
    models = calls([*rows, call(3, input_tokens=2**62, output_tokens=2**62)])
    columns = "known_cost_usd, known_input_tokens, known_output_tokens"
    assert models.rows("select call_count from teacher_costs") == [(3,)]
    (cost, tokens, output), *_ = models.rows(f"select {columns} from teacher_costs")
    assert cost > 0.5 and tokens is None and output == 2**62 + 200


def spend(line: int, step: int | None, role: str | None, cost: float | None, **fields: object) -> dict:
    row = {"source_name": "ledger", "line_number": line, "run_in_path": "run", "step": step, "role": role}
    return row | {"cost_usd": cost} | fields


def test_the_ledger_has_a_verdict_where_both_sides_are_known() -> None:
    rows = [
        call(1),
        call(2),
        call(3, step=2),
        call(4, step=3),
        call(5, step=3, model="other"),
        call(6, step=4),
        call(7, step=5),
        call(8, step=None),
        call(9, run_id="without a ledger"),
        call(10, step=7),
    ]
    ledger = [
        spend(1, 1, "verifier", 0.01),
        spend(2, 1, "verifier", 0.03),
        spend(3, 2, "verifier", 0.0201),
        spend(4, 3, "verifier", 0.02),
        spend(5, 4, "verifier", 0.0),
        spend(6, 6, "verifier", 0.02),
        spend(7, None, "verifier", 0.02),
        spend(8, 7, "verifier", 0.02 + 9e-7),
        spend(9, 1, "verifier", 1.0, run_id="check"),
    ]
    roles = [{"run_id": "check", "role": "diagnostic"}]
    models = calls(rows, teacher_spend=ledger, run_roles=roles)
    columns = "step, call_count, ledger_row_count, round(difference_usd, 9), ledger_unknown_cost_row_count, agrees"
    assert models.rows(f"select {columns} from teacher_spend_reconciliation order by step nulls first") == [
        (None, 1, 1, 0.0, 0, True),
        (1, 2, 2, 0.0, 0, True),
        (2, 1, 1, 0.0001, 0, False),
        (3, 2, 1, 0.0, 0, None),
        (4, 1, 1, None, 1, None),
        (5, 1, 0, None, 0, False),
        (6, 0, 1, None, 0, False),
        (7, 1, 1, 9e-07, 0, True),
    ]
    unknown = "select step, unknown_cost_call_count from teacher_spend_reconciliation where step in (3, 6) order by 1"
    assert models.rows(unknown) == [(3, 1), (6, 0)]
    named = {subject for kind, subject in findings(models) if kind == "ledger_differs"}
    assert named == {f"run step {step} verifier" for step in (2, 5, 6)}


@pytest.mark.parametrize(
    ("fields", "kinds"),
    [
        ({}, set()),
        ({"input_tokens": 0, "output_tokens": 0, "input_cached_tokens": 0, "output_reasoning_tokens": 0}, set()),
        ({"input_tokens": -1}, {"negative_tokens", "unknown_cost"}),
        ({"output_tokens": -1}, {"negative_tokens", "unknown_cost"}),
        ({"input_cached_tokens": -1}, {"negative_tokens", "unknown_cost"}),
        ({"output_reasoning_tokens": -1}, {"negative_tokens"}),
        ({"input_cached_tokens": 1000}, set()),
        ({"input_cached_tokens": 1001}, {"impossible_tokens", "unknown_cost"}),
        ({"output_reasoning_tokens": 100}, set()),
        ({"output_reasoning_tokens": 101}, {"impossible_tokens"}),
        ({"cost_usd": -0.1}, {"zero_cost_reported"}),
        ({"usage_cost": 0.0}, {"zero_cost_reported"}),
        ({"cost_usd": 0.1}, set()),
    ],
)
def test_token_counts_and_costs_that_can_not_be(fields: dict, kinds: set[str]) -> None:
    assert {kind for kind, _ in findings(calls([call(1, **fields)]))} == kinds


def test_an_id_in_two_runs_is_a_finding() -> None:
    rows = [call(1, call_id="x"), call(2, call_id="x", run_id="other"), call(3), call(4, call_id="c3")]
    assert findings(calls(rows)) >= {("call_id_in_two_runs", "x")}
    assert ("call_id_in_two_runs", "c3") not in findings(calls(rows))


def test_findings_name_the_first_call() -> None:
    models = calls([call(2, output_tokens=-1), call(1, output_tokens=-1), call(4, output_reasoning_tokens=101)])
    details = "select kind, detail from teacher_findings where kind like '%_tokens' order by 1"
    assert [(kind, detail.split("(first: ")[1].split(")")[0]) for kind, detail in models.rows(details)] == [
        ("impossible_tokens", "c4"),
        ("negative_tokens", "c1"),
    ]
