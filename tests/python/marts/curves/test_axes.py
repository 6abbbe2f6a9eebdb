"""Which metric is an arm's x-axis."""

import math
from datetime import timedelta

import pytest

from tests.python.support.campaign import EPOCH, Campaign, steps


def key_of(models, campaign) -> object:
    models.run(campaign.tables)
    return models.rows("select position_key from arms")[0][0]


def test_a_declared_axis_is_taken_first_and_a_variant_has_its_familys(models):
    campaign = Campaign()
    campaign.log("a", "a", steps(1, 2, tokens=5.0), run_name="ppo", config={"seed": "1"}, axes={"*": "tokens"})
    campaign.log("b", "b", steps(1, 2, tokens=5.0), 5, run_name="ppo", config={"seed": "2"})
    campaign.declare("arms", arm="ppo", position_key="loss/count")
    campaign.declare("arms", arm="ppo [seed=2]", position_key="tokens")
    models.run(campaign.tables)
    found = models.rows("select arm, position_key from arms order by arm")
    assert found == [("ppo [seed=1]", "loss/count"), ("ppo [seed=2]", "tokens")]


@pytest.mark.parametrize(
    ("axes", "key"),
    [
        ({"*": "tokens"}, "tokens"),
        ({"loss": "tokens"}, "tokens"),  # half of all values
        ({"lo*": "tokens", "loss": "env_steps"}, "env_steps"),  # the exact name rules
        ({"l*": "env_steps", "los*": "tokens"}, "tokens"),  # then the longest prefix
        ({"nothing": "tokens"}, "global_step"),
        ({"*": "_runtime"}, "global_step"),
        ({"*": "unlogged"}, "global_step"),
        ({"*": "_step"}, "_step"),
        ({"loss": "tokens", "reward": "env_steps"}, "env_steps"),  # of equals the first by name
    ],
)
def test_the_axis_that_most_values_were_declared_for_is_taken(models, axes, key):
    rows = [
        {"_step": i, "global_step": 2.0 * i, "tokens": 7.0 * i, "env_steps": 9.0 * i, "_runtime": 1.0 * i}
        | {"loss": 1.0, "reward": 1.0}
        for i in range(4)
    ]
    assert key_of(models, Campaign().log("a", "a", rows, axes=axes)) == key


def test_an_axis_declared_for_the_evaluations_alone_is_not_the_arms(models):
    rows = [{"train/global_step": float(i), "train/reward": 1.0} for i in range(5)]
    rows += [{"eval/global_step": float(i), "eval/pass": 0.5} for i in (2, 4)]
    assert key_of(models, Campaign().log("a", "a", rows, axes={"eval/*": "eval/global_step"})) == "train/global_step"


def test_nulls_and_texts_vote_and_axes_do_not(models):
    rows = [{"tokens": float(i), "epoch": 0.5, "a": None, "b": (None, '"x"', None), "global_step": 1.0} for i in (1, 2)]
    rows += [{"global_step": float(i), "c": 1.0} for i in range(3, 6)]
    assert key_of(models, Campaign().log("l", "l", rows, axes={"a": "tokens", "b": "tokens"})) == "tokens"


@pytest.mark.parametrize(
    ("rows", "key"),
    [
        ([{"global_step": 1.0, "train/step": 1.0}, {"global_step": 2.0, "train/step": 2.0}], "global_step"),
        ([{"global_step": 1.0, "train/step": 1.0}, {"train/step": 2.0}], "train/step"),  # logged once is no axis
        ([{"global_step": 1.0, "train/step": 1.0}], "global_step"),
        ([{"global_step": math.nan, "iteration": 3.0}], "iteration"),
        ([{"rollout/step": 1.0, "_step": 4}], "rollout/step"),
        ([{"loss": 1.0, "_step": 4}], "_step"),
        ([{"loss": 1.0}], None),
    ],
)
def test_else_the_first_usual_key_that_rises_then_the_trackers_step(models, rows, key):
    assert key_of(models, Campaign().log("a", "a", rows)) == key


def test_excluded_rows_and_duplicate_sources_choose_no_axis(models):
    campaign = Campaign()
    campaign.log("a", "a", steps(1, 2), run_name="arm")
    campaign.log("b", "b", steps(1, 2, key="iteration"), 5, run_name="arm")
    campaign.log("b2", "b", steps(1, key="train/step"), 5, run_name="arm", kind="export")
    campaign.declare("run_exclusions", run_id="a", reason="wrong parser")
    assert key_of(models, campaign) == "iteration"


def test_what_is_excluded_of_a_log_has_no_vote(models):
    rows = [{"global_step": float(i), "tokens": 10.0 * i, "loss" if i > 2 else "setup": 1.0} for i in range(6)]
    campaign = Campaign().log("a", "a", rows, axes={"setup": "tokens"})
    assert key_of(models, campaign) == "tokens"
    campaign.declare("run_exclusions", run_id="a", logged_until=EPOCH + timedelta(seconds=1), reason="warm-up")
    assert key_of(models, campaign) == "global_step"
