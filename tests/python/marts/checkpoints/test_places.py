"""Which checkpoint lies where: bare folders, steps of runs, spare repos, archive logs; worked out by hand."""

import pytest

from tests.python.support.checkpoints.rows import HOURS, KINDS, OK, Rows


@pytest.fixture
def rows():
    rows = Rows()
    rows.add("cells", cell="kimi")
    return rows


def test_two_that_state_one_id_are_both_kept(models, rows):
    rows.model("run/checkpoint-5", family="run", step_name="5", folder_path="/a/run", source="one", eos=OK)
    rows.model("run/checkpoint-5", family="run", step_name="5", folder_path="/b/run", source="two")
    rows.model("lab/x", kind="hub", repo="lab/x", branch="main", source="hub")
    rows.model("lab/x", folder_path="/c", source="three")
    models.run(rows.tables)
    told = "select model_id, family, step, source_kind, duplicate_of from checkpoints order by 1"
    assert models.rows(told) == [
        ("lab/x", None, None, "folder", None),
        ("lab/x~2", None, None, "hub", "lab/x"),
        ("run/checkpoint-5", "run", 5, "folder", None),
        ("run/checkpoint-5~2", "run", 5, "folder", "run/checkpoint-5"),
    ]
    assert [row for row in models.rows(KINDS) if row[0].startswith("model_id")] == [
        ("model_id_in_several_sources", "lab/x"), ("model_id_in_several_sources", "run/checkpoint-5")
    ]  # fmt: skip
    # The packaging of each is its own.
    eos = "select model_id, eos_ok from checkpoints where family = 'run' order by 1"
    assert models.rows(eos) == [("run/checkpoint-5", True), ("run/checkpoint-5~2", None)]


def test_paths_that_end_alike_are_different_checkpoints(models, rows):
    for model_id in ("x/run/out", "y/run/out", "run/out", "deep/in/org/kimi.h012.a.b.7"):
        rows.model(model_id)
    models.run(rows.tables)
    told = "select checkpoint_key, model_id, duplicate_of from checkpoints order by 1"
    assert models.rows(told) == [
        ("kimi/a.b/7", "deep/in/org/kimi.h012.a.b.7", None),
        ("run/out", "run/out", None),
        ("x/run/out", "x/run/out", None),
        ("y/run/out", "y/run/out", None),
    ]


def test_a_step_is_that_of_the_name_else_the_trainer_s(models, rows):
    def planted(model_id, step_name, global_step, **state):
        key = rows.model(model_id, step_name=step_name)
        rows.add("checkpoint_states", **key, file_name="trainer_state.json", is_readable=True, global_step=global_step)
        rows.tables["checkpoint_states"][-1] |= state

    planted("run/checkpoint-5", "5", 5, best_metric=0.25, best_step=4)
    planted("run/checkpoint-6", "6", 7)
    planted("lora-100", None, 100)
    planted("step_8", "8", None, validation_reward=0.5)
    models.run(rows.tables)
    columns = "model_id, step, trainer_step, best_metric, best_step, validation_reward"
    assert models.rows(f"select {columns} from checkpoints order by 1") == [
        ("lora-100", 100, 100, None, None, None),
        ("run/checkpoint-5", 5, 5, 0.25, 4, None),
        ("run/checkpoint-6", 6, 7, None, None, None),
        ("step_8", 8, None, None, None, 0.5),
    ]
    assert [row for row in models.rows(KINDS) if row[0].startswith("step")] == [
        ("step_differs_from_trainer", "run/checkpoint-6")
    ]


def test_steps_of_a_sweep_may_be_named_by_their_trainer_or_have_none(models, rows):
    rows.cell(submitted="a/checkpoint-5")
    rows.checkpoint("a/checkpoint-5", hours=[1.0])
    rows.checkpoint("a/global_step_7", hours=[2.0])
    rows.checkpoint("final/x", hours=[3.0])
    rows.tables["checkpoint_folders"][-1]["step_name"] = None
    models.run(rows.tables)
    assert models.rows("select model_id, family, step, role from checkpoints order by 1") == [
        ("org/kimi.h001.a.checkpoint-5", "a", 5, "SUBMITTED"),
        ("org/kimi.h002.a.global_step_7", "a", 7, "intermediate"),
        ("org/kimi.h003.final", "final", None, "intermediate"),
    ]


def test_what_was_pruned_is_dated_wherever_it_lives_on(models, rows):
    """hour = 1 + step / 50, by a/100 and a/200; the others have no local copy."""
    rows.cell(submitted="a/700")
    rows.checkpoint("a/100", hours=[3.0])
    rows.checkpoint("a/200", hours=[5.0])
    rows.add("spare_repos", repo="spare/kimi-a-*", cell="kimi", family="a")
    rows.add("spare_repos", repo="spare/kimi-odd", cell="kimi", family="a", step="700")
    rows.add("spare_repos", repo="spare/one-repo", cell="kimi", family="a")
    rows.add("spare_repos", repo="spare/nowhere", cell="kimi", family="a")
    rows.model("spare/kimi-a-300", kind="hub", repo="spare/kimi-a-300", branch="main", eos=OK)  # the family's line
    rows.model("spare/kimi-a-400", folder_path="/disk/spare/kimi-a-400")  # the archive log
    rows.archive("a/400", 9.0)
    rows.model("here/spare/kimi-odd")  # a pattern may be the end of a longer path
    rows.model("spare/one-repo@step-0800", kind="hub", repo="spare/one-repo", branch="step-0800")
    rows.archive("a/500", 11.0, line=2)  # the log alone
    rows.archive("a/550", 50.0, action="pruned", line=3)  # when it was deleted is not when it was written
    rows.published("org/kimi.hNA.a.600", None, "unrecoverable", cell="kimi", eos_ok=True, checkpoint_source="msr")
    rows.published("org/kimi.hNA.b.1", None, "unrecoverable", cell="kimi", hour_upper_bound=44.0)
    models.run(rows.tables)
    assert models.rows(HOURS) == [
        ("org/kimi.h003.a.100", 3.0, "mtime", None),
        ("org/kimi.h005.a.200", 5.0, "mtime", None),
        ("org/kimi.h007.a.300", 7.0, "extrapolated", None),
        ("org/kimi.h009.a.400", 9.0, "janitor", None),
        ("org/kimi.h011.a.500", 11.0, "janitor", None),
        ("org/kimi.h012.a.550", 12.0, "extrapolated", None),
        ("org/kimi.hNA.a.600", 13.0, "extrapolated", None),
        ("org/kimi.h015.a.700", 15.0, "extrapolated", None),
        ("org/kimi.h017.a.800", 17.0, "extrapolated", None),
        ("org/kimi.hNA.b.1", None, "unrecoverable", 44.0),
    ]
    told = (
        "select step, source_kind, source, role, eos_ok from checkpoints where family = 'a' and step > 200 order by 1"
    )
    assert models.rows(told) == [
        (300, "hub", "hf:spare/kimi-a-300@main", "intermediate", True),
        (400, "folder", "spare/kimi-a-400", "intermediate", None),
        (500, "archive", "kimi/checkpoints/a/500", "intermediate", None),
        (550, "archive", "kimi/checkpoints/a/550", "intermediate", None),
        (600, "manifest", "msr", None, True),
        (700, "folder", "here/spare/kimi-odd", "SUBMITTED", None),
        (800, "hub", "hf:spare/one-repo@step-0800", "intermediate", None),
    ]
    kinds = [row for row in models.rows(KINDS) if row[0] in ("archived_checkpoint_missing", "spare_repo_without_data")]
    assert kinds == [
        ("archived_checkpoint_missing", "kimi/a/500"),
        ("archived_checkpoint_missing", "kimi/a/550"),
        ("spare_repo_without_data", "spare/nowhere"),
    ]


def test_a_spare_copy_of_what_still_lies_there_adds_no_checkpoint(models, rows):
    rows.cell(submitted="a/1")
    rows.checkpoint("a/1", hours=[1.0])
    rows.add("spare_repos", repo="spare/*", cell="kimi", family="a")
    rows.model("spare/kimi-1", kind="hub", repo="spare/kimi-1", branch="main")
    models.run(rows.tables)
    assert models.rows("select model_id, source_kind from checkpoints") == [("org/kimi.h001.a.1", "sweep")]


def test_a_score_names_a_bare_checkpoint_by_its_path_or_by_a_last_name_that_is_its_alone(models, rows):
    for model_id in ("runs/one", "runs/a/out", "runs/b/out", "lora-1", "runs/lora-1"):
        rows.model(model_id)
    for model_id, score in [("one", 1.0), ("out", 2.0), ("runs/b/out", 3.0), ("lora-1", 4.0)]:
        rows.score(None, score, model_id=model_id)
    models.run(rows.tables)
    assert models.rows("select model_id, score from checkpoint_scores where score is not null order by 1") == [
        ("lora-1", 4.0), ("runs/b/out", 3.0), ("runs/one", 1.0)
    ]  # fmt: skip
    assert [row for row in models.rows(KINDS) if row[0] == "score_for_unknown_model"] == [
        ("score_for_unknown_model", "out on suite")
    ]
