"""`seamline ingest rollouts`: open-instruct's shards. The reader is shards.py."""

from enum import StrEnum

from ingest.kind import Kind, Option


class Engine(StrEnum):
    """What runs the reader: this machine's cores, or a Spark cluster's."""

    local = "local"
    spark = "spark"


ROLLOUTS = Kind(
    name="rollouts",
    help="Rollout shards of open-instruct with their metadata, plain, .gz or .zst.",
    known_by="`<run>_rollouts_<N>.jsonl` with tokens or logprobs, `<run>_metadata.jsonl` with a run's name or commit",
    domains=("turns",),
    reader_version=1,
    tables=("rollout_runs", "rollout_files", "rollout_records", "rollout_tokens"),
    reader="ingest.open_instruct.engine:ingest_on_engine",
    knows_file="ingest.open_instruct.shards:is_rollout_file",
    options=(
        Option("--keep-tokens", bool, "Land the token ids and log-probabilities too.", False),
        Option("--engine", Engine, "What reads the shards: this machine, or Spark as for a build.", Engine.local),
    ),
)
