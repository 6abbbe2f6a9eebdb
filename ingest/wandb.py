"""`seamline ingest wandb`: logs and exported histories of Weights & Biases."""

from ingest.driver import Outcome, expand, ingest
from ingest.wandb_log import log_source, read_log
from warehouse.home import Home


def ingest_wandb(home: Home, sources: list[str], run_id: str | None = None, workers: int | None = None) -> Outcome:
    """Land every W&B log found in `sources`."""
    paths = expand(sources, "*.wandb logs", lambda file: file.suffix == ".wandb")
    return ingest(home, "wandb", paths, log_source, read_log, workers)
