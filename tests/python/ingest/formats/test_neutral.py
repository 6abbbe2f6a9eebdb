"""The formats are anyone's: what is said in them of one producer belongs in that producer's folder."""

import re

import pytest

from tests.python.support.command import ROOT

PRODUCERS = ("wandb", "w&b", "weights & biases", "verl", "open.instruct", "swanlab", "tensorboard", "trackio", "mlflow")
PRODUCERS += ("transformers", "prime.rl", "tinker", "codex", "claude", "openai")
FILES = [file for room in ("formats", "history") for file in sorted((ROOT / "ingest" / room).glob("*.py"))]


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}/{file.name}")
def test_no_producer_is_named(file) -> None:
    named = re.findall("|".join(PRODUCERS), file.read_text().lower())
    assert named == []
