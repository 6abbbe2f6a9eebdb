"""The marts of checkpoints, and a finished cell whose driver used 1,000 tokens at its start."""

import pytest

from tests.python.support.checkpoints.rows import Rows, checkpoint_models


@pytest.fixture
def models():
    return checkpoint_models()


@pytest.fixture
def rows():
    rows = Rows()
    rows.add("cells", cell="kimi")
    rows.cell(submitted="a/1")
    rows.usage(0, (1000, 0, 0), log="usage")
    return rows
