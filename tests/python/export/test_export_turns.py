"""The export of turns, over rollouts spelled out by hand: files, cells, names, what INDEX and README say."""

import csv
from pathlib import Path

import pytest

from export.turns import write
from tests.python.support.models import Models
from tests.python.support.planted_rollouts import START, curve, merged, metadata, record, response, shard


@pytest.fixture(scope="module")
def out(turn_models: Models, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """(folder, README section): an arm that resumed, one without rollouts, one whose name is taken, hostile names."""
    folder = tmp_path_factory.mktemp("export")
    first = [
        record(0, 0, **response(10, -20, 6), calls=1),
        record(0, 1, **response(2, "<", 1, ">"), calls=0),
        record(1, 0, **response(2, "<", 5), calls=2),
    ]
    turn_models.run(
        merged(
            *(shard("a__1__1", first), metadata("a__1__1"), curve("a", 3, "a__1__1")),
            *(
                shard("a__1__2", [record(1, 0, calls=0), record(3, 0)]),
                metadata("a__1__2", "x", START.replace(year=2027)),
            ),
            *(curve("a_turns", 3), curve("silent | arm", 3)),
            *(shard("../b", [record(0, 0) | {"logprobs": None}]), metadata("../b", None)),
        )
    )
    (folder / "INDEX.md").write_text("# Which runs make each curve\n")
    return folder, write(turn_models.connection, folder, "archive")


def cells(path: Path) -> list[dict[str, str]]:
    with open(path, newline="", encoding="utf-8") as handle:
        return list(csv.DictReader(handle))


def test_a_line_per_training_step_with_the_steps_first(out: tuple[Path, str]) -> None:
    """The second run redid step 1 and its model is unknown; its step 3 lies beyond the curve."""
    (path,) = (out[0] / "by-arm").glob("a-*_turns.csv")
    first, second = cells(path)
    assert list(first)[:3] == ["training_step", "step_idx", "n_rollouts"]
    assert (first["training_step"], first["step_idx"], first["n_rollouts"]) == ("1", "0", "2")
    assert first["assistant_tokens_total"] == "21" and first["tool_output_tokens_total"] == "20"
    assert first["assistant_tokens_per_turn"] == "7"
    assert first["mean_tool_call_length_tokens"] == "3" and first["malformed_tool_call_rollouts"] == "0"
    assert (second["training_step"], second["step_idx"], second["assistant_tokens_total"]) == ("2", "1", "3")
    assert second["assistant_tool_call_tokens_total"] == "" and second["mean_tool_call_length_tokens"] == ""


def test_names_stay_in_the_folder_and_apart(out: tuple[Path, str]) -> None:
    """`a_turns.csv` is the curve of an arm of that name."""
    files = sorted(p.relative_to(out[0]).as_posix() for p in out[0].rglob("*") if p.is_file())
    assert len(files) == 3 and files[0] == "INDEX.md"
    assert all(f.startswith("by-arm/") and f.endswith("_turns.csv") and ".." not in f for f in files[1:])
    assert "by-arm/a_turns.csv" not in files


def test_the_index_tells_what_became_of_each_run_and_who_has_none(out: tuple[Path, str]) -> None:
    index = (out[0] / "INDEX.md").read_text()
    assert index.startswith("# Which runs make each curve\n")
    assert "| a | a\\_\\_1\\_\\_1 | 2026-09-01 00:00:00 | Qwen/Qwen3.5-9B | 3 | 2 | 1 | 0 | 0 | 0 |" in index
    assert "| a | a\\_\\_1\\_\\_2 | 2027-09-01 00:00:00 | x | 2 | 1 | 0 | 1 | 0 | 0 |" in index
    assert "so without turns: a\\_turns, silent \\| arm." in index


def test_the_readme_tells_method_margin_and_traps(out: tuple[Path, str]) -> None:
    section = out[1]
    assert "4 rollouts (of 6 saved), training steps 1 to 2" in section
    assert "a run of at least 16 counts" in section
    assert "| 16 | 3 | 3 | 1 |" in section and "| 24 | 3 | 2 | 0.6667 |" in section
    assert "1 calls reported, 1 tool outputs found" in section
    assert "- 1 kept rollouts have no logprob for every token." in section
    assert "| a | 1 to 50 | 0 | 0 of 0 |" in section


def test_without_rollouts_there_is_nothing_to_export(turn_models: Models, tmp_path: Path) -> None:
    turn_models.run(merged(curve("a", 3)))
    assert write(turn_models.connection, tmp_path, "archive") == ""
    assert list(tmp_path.iterdir()) == []


def test_rollouts_of_which_none_could_be_split_are_exported(turn_models: Models, tmp_path: Path) -> None:
    """Their counts are known, the length of a turn is not."""
    lines = [record(step, 0) | {"logprobs": None} for step in range(2)]
    turn_models.run(merged(shard("a__1__1", lines), metadata("a__1__1"), curve("a", 2, "a__1__1")))
    section = write(turn_models.connection, tmp_path, "archive")
    assert "They were not: no rollout that counts has a logprob for every token." in section
    assert "- 2 kept rollouts have no logprob for every token." in section
    (path,) = (tmp_path / "by-arm").glob("*.csv")
    assert [(row["n_rollouts"], row["assistant_tokens_total"]) for row in cells(path)] == [("1", ""), ("1", "")]
