"""Candidates on rows worked out by hand: labels, groups, chains, penalties, costs."""

import pytest

from tests.python.support.round_marts import candidate, candidates, file, findings


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
