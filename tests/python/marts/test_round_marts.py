"""The marts of rounds on rows worked out by hand: labels, groups, chains, windows, launches, comparisons."""

from datetime import timedelta

import pytest

from tests.python.support.round_marts import START, candidate, candidates, file, findings, source


def test_interrupted_attempts_and_repeated_siblings_are_labelled() -> None:
    files = [file("cut", number=5, attempt=1, minutes=9), file("early", number=5), file("late", number=5, minutes=5)]
    rows = [
        candidate("cut", 1, 5, "g", 0),
        candidate("early", 1, 5, "g", 0),
        candidate("late", 1, 5, "g", 0),
        candidate("late", 2, 5, "g", 0),
        candidate("early", 2, 5, "g", 1),
        candidate("early", 3, 5, "h", 1),
    ]
    models = candidates(rows, files)
    assert models.rows("select source_name, line_number, drop_reason from candidates order by 1, 2") == [
        ("cut", 1, "interrupted_attempt"),
        ("early", 1, "duplicate"),
        ("early", 2, None),
        ("early", 3, None),
        ("late", 1, "duplicate"),
        ("late", 2, None),
    ]
    named = findings(models)
    assert ("duplicate_candidates", "run step 5") in named
    assert ("interrupted_attempt", "run step 5 attempt 1") in named
    details = models.rows("select detail from candidate_findings where kind = 'duplicate_candidates'")
    assert details[0][0].startswith("2 lines")


def test_what_a_row_leaves_out_is_read_off_its_folder() -> None:
    rows = [candidate("a", 1, None, "g", 0, run_id=None, task=None), candidate("b", 1, None, "g", 0, global_step=7)]
    models = candidates(rows, [file("a", "folder", 3), file("b", "folder", 3)])
    assert models.rows("select run_id, step, round, task from candidates order by 1") == [
        ("folder", 3, 3, "unknown"),
        ("run", 7, 3, "task"),
    ]


def test_advantage_is_held_against_the_mean_of_the_kept_siblings() -> None:
    rows = [
        candidate("a", 1, 1, "g", 0, reward=9.0, advantage=0.0),
        candidate("a", 2, 1, "g", 0, reward=1.0, advantage=-1.0),
        candidate("a", 3, 1, "g", 1, reward=3.0, advantage=1.0),
        candidate("a", 4, 1, "h", 0, reward=1.0, advantage=-1.0),
        candidate("a", 5, 1, "h", 1, reward=3.0, advantage=1.0 + 1e-8),
    ]
    models = candidates(rows)
    got = models.rows("select group_id, group_mean_reward from candidates where drop_reason is null order by 1, 2")
    assert got == [("g", 2.0), ("g", 2.0), ("h", 2.0), ("h", 2.0)]
    assert {f for f in findings(models) if f[0] == "advantage_differs"} == {
        ("advantage_differs", "run step 1 group h"),
    }


def test_groups_of_another_size_are_found() -> None:
    rows = [candidate("a", 16 * g + n, 1, f"g{g}", n, is_behavior=n == 0) for g in range(5) for n in range(16)]
    assert findings(candidates(rows)) == set()
    without = [row for row in rows if (row["group_id"], row["sibling_index"]) != ("g2", 15)]
    models = candidates([row for row in without if (row["group_id"], row["sibling_index"]) != ("g2", 0)])
    assert models.rows("select detail from candidate_findings where kind = 'wrong_sibling_count'") == [
        ("14 siblings (indices 1 to 14), not 16",)
    ]
    assert findings(candidates(without)) == {("wrong_sibling_count", "run step 1 group g2")}
    extra = [candidate("a", 900 + n, 1, "g9", n, is_behavior=n < 2) for n in range(16)]
    assert findings(candidates(rows + extra)) == {
        ("wrong_group_count", "run step 1"),
        ("wrong_behavior_count", "run step 1 group g9"),
    }


@pytest.mark.parametrize(
    ("penalty", "expected"),
    [("true", True), ("false", False), ("0", False), ("0.0", False), ("0.25", True), ("-1", True), (None, None)],
)
def test_a_penalty_is_true_or_a_number_that_is_not_zero(penalty: str | None, expected: bool | None) -> None:
    models = candidates([candidate("a", 1, 1, "g", 0, penalty_json=penalty, reward_rule="r")])
    assert models.rows("select reward_rule, is_valid, has_penalty, candidate_count from reward_branches") == [
        ("r", False, expected, 1)
    ]


def test_costs_by_role_are_summed_where_all_are_known() -> None:
    rows = [candidate("a", n, 1, "g", n, cost_usd=0.3) for n in range(4)]
    costs = [(0, "x", 0.1), (0, "y", 0.2), (1, "x", 0.1), (1, "y", None), (2, "x", 0.1), (2, "y", 0.1)]
    landed = [{"source_name": "a", "line_number": n, "role": role, "cost_usd": cost} for n, role, cost in costs]
    models = candidates(rows, rounds_candidate_costs=landed)
    got = models.rows("select sibling_index, round(cost_by_role_usd, 9) from candidates order by 1")
    assert got == [(0, 0.3), (1, None), (2, 0.2), (3, None)]
    assert ("cost_by_role_differs", "run step 1 group g") in findings(models)
    assert models.rows("select round(widest_cost_error_usd, 9) from candidate_groups") == [(0.1,)]


def state(step: int, parent: tuple, chosen: tuple, action: str, chain: str = "0", **fields: object) -> list[dict]:
    """A group of two: sibling 1 was selected, with the result `chosen`."""
    start = {"parent_outcome": parent[0], "parent_score": parent[1], "chain": chain, "behavior_action": action}
    group = f"g{step}-{chain}"
    return [
        candidate(f"r{step}", 2 * int(chain) + 1, step, group, 0, outcome="zzz", score=0.99, **start, **fields),
        candidate(
            f"r{step}", 2 * int(chain) + 2, step, group, 1, is_behavior=True, outcome=chosen[0], score=chosen[1],
            **start, **fields,
        ),
    ]  # fmt: skip


def test_a_state_is_the_selected_result_where_it_advanced_else_the_parent() -> None:
    seed, good, better = ("seeded", None), ("ok", 0.5), ("ok", 0.6)
    rows = [
        *state(1, seed, good, "advance"),
        *state(2, good, better, "keep"),
        *state(3, good, better, "advance"),
        *state(5, better, better, "keep"),
        # Another chain of the task: its second state is neither the result nor the parent.
        *state(1, seed, good, "keep", "1"),
        *state(2, good, good, "keep", "1"),
        *state(1, seed, ("ok", 0.5), "advance", "2"),
        *state(2, ("ok", 0.4), good, "keep", "2"),
        # Nobody states a result: nothing contradicts.
        *state(1, (None, None), good, "keep", "4"),
        *state(2, (None, None), good, "keep", "4"),
        *state(1, seed, ("ok", 0.5), "advance", "3"),
        *state(2, ("late", 0.5), good, "keep", "3"),
    ]
    models = candidates(rows)
    assert models.rows(
        "select chain, step, is_advance, previous_step, is_continued from chain_steps order by 1, 2"
    ) == [
        ("0", 1, True, None, None),
        ("0", 2, False, 1, True),
        ("0", 3, True, 2, True),
        ("0", 5, False, 3, True),
        ("1", 1, False, None, None),
        ("1", 2, False, 1, False),
        ("2", 1, True, None, None),
        ("2", 2, False, 1, False),
        ("3", 1, True, None, None),
        ("3", 2, False, 1, False),
        ("4", 1, False, None, None),
        ("4", 2, False, 1, True),
    ]
    assert {f for f in findings(models) if f[0] == "chain_broken"} == {
        ("chain_broken", f"run task task chain {chain} step 2") for chain in "123"
    }


def test_a_group_id_used_again_by_another_step_or_run_is_another_group() -> None:
    places = [("run", 1, 0.0), ("run", 2, 0.5), ("other", 1, 1.0)]
    rows = [
        candidate("a", 2 * n + sibling, step, "g", sibling, run_id=run, reward=base + sibling, chain=str(sibling))
        for n, (run, step, base) in enumerate(places)
        for sibling in (0, 1)
    ]
    models = candidates(rows)
    columns = "run_id, step, sibling_count, group_mean_reward, drop_reason"
    assert models.rows(f"select distinct {columns} from candidates order by 1, 2") == [
        ("other", 1, 2, 1.5, None),
        ("run", 1, 2, 0.5, None),
        ("run", 2, 2, 1.0, None),
    ]
    assert models.rows("select distinct chain from candidate_groups") == [("0",)]  # of several the first


def test_of_several_selected_siblings_the_last_speaks_for_the_group() -> None:
    rows = [candidate("a", n, 1, "g", n, is_behavior=n in (1, 3)) for n in range(4)]
    models = candidates(rows)
    columns = "sibling_count, behavior_count, behavior_sibling_index, first_sibling_index, last_sibling_index"
    assert models.rows(f"select {columns} from candidate_groups") == [(4, 2, 3, 0, 3)]


def test_siblings_that_started_from_different_states_are_found() -> None:
    starts = {"same": [("a", 0.5), ("a", 0.5)], "outcome": [("a", 0.5), ("b", 0.5)], "score": [("a", 0.5), ("a", 0.4)]}
    rows = [
        candidate("r1", 1, 1, group, n, parent_outcome=outcome, parent_score=score)
        for group, parents in starts.items()
        for n, (outcome, score) in enumerate(parents)
    ]
    models = candidates(rows)
    assert models.rows("select group_id, parent_outcome, parent_score from candidate_groups order by 1") == [
        ("outcome", "a", 0.5),
        ("same", "a", 0.5),
        ("score", "a", 0.4),
    ]
    assert {subject for kind, subject in findings(models) if kind == "parents_differ"} == {
        "run step 1 group outcome",
        "run step 1 group score",
    }


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
