"""The registry: every kind of source. What lists kinds (commands, `auto`, builds, the README) is made from it.

Where a tree is searched, the first kind that knows a file has it.
"""

from ingest.checkpoints.source import CHECKPOINTS
from ingest.driver_usage.source import DRIVER_USAGE
from ingest.kind import Kind
from ingest.open_instruct.source import ROLLOUTS
from ingest.rounds.source import ROUNDS
from ingest.scores.source import SCORES
from ingest.teacher_calls.source import TEACHER_CALLS
from ingest.verl.source import NATIVE_METRICS
from ingest.wandb.source import WANDB

KINDS: dict[str, Kind] = {
    kind.name: kind
    for kind in (
        ROLLOUTS,
        ROUNDS,
        WANDB,
        NATIVE_METRICS,
        DRIVER_USAGE,
        SCORES,
        TEACHER_CALLS,
        CHECKPOINTS,
    )
}

DOMAINS_OF_KINDS = {kind.name: kind.domains for kind in KINDS.values()}
"""By kind, the folders of models/marts/ that have rows because of it: what a build must know of the registry."""


def markdown_table() -> str:
    """The kinds as the README lists them; `python -m ingest.sources` prints it."""
    head = ["| command | reads | in a folder known by |", "|---|---|---|"]
    kinds = [f"| `seamline ingest {kind.name}` | {kind.help} | {kind.known_by} |" for kind in KINDS.values()]
    return "\n".join([*head, *kinds])


if __name__ == "__main__":
    print(markdown_table())
