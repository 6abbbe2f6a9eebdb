"""`seamline ingest rounds`: what a run in rounds leaves. The readers are trees.py and run_folders.py."""

from ingest.kind import Kind, Option

ROUNDS = Kind(
    name="rounds",
    help="Trees of round_<N>/ candidates, held-out attempts, scheduler events, saved steps, W&B exports.",
    known_by="`siblings.jsonl` of candidates, `eval_*.json` of attempts, `scheduler*.jsonl` of events, "
    "`checkpoints/global_step_<N>/`, `wandb_export/<run>/`",
    domains=("rounds",),
    reader_version=2,
    tables=(
        "rounds_files",
        "rounds_candidates",
        "rounds_candidate_costs",
        "rounds_evaluation_attempts",
        "rounds_scheduler_events",
        "rounds_saved_step_files",
        "rounds_tracker_exports",
        "rounds_tracker_fields",
        "observed_fields",
    ),
    reader="ingest.rounds.trees:ingest_rounds",
    knows_file="ingest.rounds.trees:matches",
    options=(Option("--token-arrays", bool, "Land per-token ids and log-probabilities too.", False),),
)
