"""Declared windows on rows worked out by hand: counts, bounds, verdicts, and windows that can not be."""

from datetime import timedelta

import pytest

from tests.python.support.round_marts import START, candidate, candidates, file, findings, source


def window(name: str, first: int, last: int, expected: int, **fields: object) -> dict:
    declared = {"run_id": "run", "window_name": name, "first_step": first, "last_step": last}
    return declared | {"expected_candidate_count": expected, "threshold_valid_count": 2, "role": "primary"} | fields


def four(step: int, valid: int, **fields: object) -> list[dict]:
    return [candidate(f"r{step}", n + 1, step, f"g{step}", n, is_valid=n < valid, **fields) for n in range(4)]


def test_a_window_is_decided_when_every_expected_candidate_is_there() -> None:
    rows = [*four(1, 1), *four(2, 2), *four(3, 3), *four(4, 1)[:3], *four(5, 2, task=None)]
    rows[-1]["is_valid"] = None
    windows = [
        window("one", 1, 1, 4, role="baseline"),
        window("exact", 2, 2, 4),
        window("two", 2, 3, 8, threshold_valid_count=6),
        window("none", 3, 3, 4, threshold_valid_count=None),
        window("short", 4, 4, 4),
        window("over", 3, 3, 3),
        window("unjudged", 5, 5, 4),
        window("empty", 8, 9, 4),
    ]
    models = candidates(rows, decision_windows=windows)
    counts = "window_name, candidate_count, valid_count, unknown_validity_count, is_complete, passes"
    assert models.rows(f"select {counts} from validity_windows order by first_step, last_step, 1") == [
        ("one", 4, 1, 0, True, False),
        ("exact", 4, 2, 0, True, True),
        ("two", 8, 5, 0, True, False),
        ("none", 4, 3, 0, True, None),
        ("over", 4, 3, 0, False, None),
        ("short", 3, 1, 0, False, None),
        ("unjudged", 4, 2, 1, False, None),
        ("empty", 0, 0, 0, False, None),
    ]
    named = {f for f in findings(models) if f[0].startswith("window")}
    assert named == {
        ("window_incomplete", "run window short"),
        ("window_incomplete", "run window empty"),
        ("window_overfull", "run window over"),
        ("windows_overlap", "run window exact and two"),
        ("windows_overlap", "run window none and over"),
        ("windows_overlap", "run window two and none"),
        ("windows_overlap", "run window two and over"),
    }
    assert ("unknown_validity", "run step 5") in findings(models)
    compared = "window_name, baseline_window_name, valid_count_difference, valid_fraction_difference, is_complete"
    assert models.rows(
        f"select {compared} from window_comparisons where window_name in ('two', 'short') order by 1"
    ) == [
        ("short", "one", 0, pytest.approx(1 / 3 - 1 / 4), False),
        ("two", "one", 4, 5 / 8 - 1 / 4, True),
    ]


def test_wilson_and_newcombe_bounds_are_the_published_ones() -> None:
    # Newcombe 1998 (Statistics in Medicine 17: 873-890), example (a): 56/70 against 48/80, score method without
    # continuity correction: difference 0.2, from 0.0524 to 0.3339.
    rows = [candidate("r1", n, 1, f"g{n}", 0, is_valid=n < 48) for n in range(80)]
    rows += [candidate("r2", n, 2, f"g{n}", 0, is_valid=n < 56) for n in range(70)]
    models = candidates(rows, decision_windows=[window("b", 1, 1, 80, role="baseline"), window("p", 2, 2, 70)])
    (low, high) = models.rows(
        "select valid_fraction_difference_low, valid_fraction_difference_high from window_comparisons"
    )[0]
    assert (round(low, 4), round(high, 4)) == (0.0524, 0.3339)
    # Wilson's bounds of 15/148 (Newcombe 1998, Statistics in Medicine 17: 857-872): 0.0624 to 0.1605.
    rows = [candidate("r1", n, 1, f"g{n}", 0, is_valid=n < 15) for n in range(148)]
    models = candidates(rows, decision_windows=[window("w", 1, 1, 148)])
    (low, high) = models.rows("select valid_fraction_low, valid_fraction_high from validity_windows")[0]
    assert (round(low, 4), round(high, 4)) == (0.0624, 0.1605)


def test_a_window_is_preregistered_before_its_first_candidate_even_an_interrupted_one() -> None:
    rows = [
        candidate("cut", 1, 1, "g", 0, recorded_at=START),
        candidate("r1", 1, 1, "g", 0, recorded_at=START + timedelta(hours=5)),
        candidate("r2", 1, 2, "g", 0),
        candidate("r3", 1, 3, "g", 0),
    ]
    at = [START - timedelta(seconds=1), START, START + timedelta(hours=1)]
    windows = [window(f"w{n}", 1, 1, 1, registered_at=when) for n, when in enumerate(at)]
    windows += [window("called", 2, 2, 1, registered_at=at[2]), window("unknown", 3, 3, 1, registered_at=at[0])]
    call = {"source_name": "calls", "line_number": 1, "run_id": "run", "step": 2, "created_at": START}
    models = candidates(
        rows,
        [file("cut", number=1, attempt=1)],
        decision_windows=windows,
        teacher_call_records=[call],
        landed_sources=[source("calls", "teacher-calls")],
    )
    columns = "window_name, is_preregistered, first_candidate_at_source"
    assert models.rows(f"select {columns} from validity_windows order by 1") == [
        ("called", False, "teacher_call"),
        ("unknown", None, None),
        ("w0", True, "candidate"),
        ("w1", False, "candidate"),
        ("w2", False, "candidate"),
    ]
    assert {f for f in findings(models) if f[0] == "window_not_preregistered"} == {
        ("window_not_preregistered", f"run window {name}") for name in ("called", "w1", "w2")
    }


def test_a_window_that_can_not_be_is_a_finding() -> None:
    windows = [
        window("backwards", 2, 1, 4),
        window("of none", 1, 1, 0, threshold_valid_count=0),
        window("too much", 1, 1, 4, threshold_valid_count=5),
        window("everything", 1, 1, 4, threshold_valid_count=4),
    ]
    named = findings(candidates(four(1, 2), decision_windows=windows))
    assert {subject for kind, subject in named if kind == "window_impossible"} == {
        f"run window {name}" for name in ("backwards", "of none", "too much")
    }


def test_a_window_of_an_unknown_run_and_one_under_an_alias() -> None:
    aliases = [{"run_id": "other", "alias_of": "run"}]
    windows = [window("a", 1, 1, 4, run_id="other"), window("b", 1, 1, 4, run_id="nobody")]
    models = candidates(four(1, 2), decision_windows=windows, run_aliases=aliases)
    got = models.rows("select run_id, window_name, candidate_count from validity_windows order by 2")
    assert got == [("run", "a", 4), ("nobody", "b", 0)]
    assert ("window_of_unknown_run", "nobody window b") in findings(models)
    assert ("window_of_unknown_run", "run window a") not in findings(models)
