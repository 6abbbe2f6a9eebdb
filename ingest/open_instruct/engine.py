"""Rollouts on the engine that the command names."""

from homes.paths import Home
from ingest.open_instruct.shards import ingest_rollouts
from ingest.open_instruct.source import Engine
from ingest.run import Outcome


def ingest_on_engine(home: Home, paths: list[str], keep_tokens: bool = False, engine: Engine = Engine.local) -> Outcome:
    """Land rollouts, the shards read by this machine or by Spark's executors."""
    if engine is Engine.local:
        return ingest_rollouts(home, paths, keep_tokens)
    from ingest.spark import spark_cluster

    with spark_cluster(home) as cluster:
        return ingest_rollouts(home, paths, keep_tokens, cluster=cluster)
