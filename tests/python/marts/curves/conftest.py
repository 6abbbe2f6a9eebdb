"""The curve marts, compiled once for all their tests."""

import pytest

from tests.python.support.models import Models

MARTS = ["runs", "arms", "metrics", "arm_metrics", "arm_steps", "logs", "curve_findings", "config_deviations"]


@pytest.fixture(scope="session")
def models(tmp_path_factory):
    return Models(tmp_path_factory.mktemp("home"), MARTS)
