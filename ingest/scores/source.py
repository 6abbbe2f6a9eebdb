"""`seamline ingest scores`: evaluation scores. The reader is tables.py."""

from ingest.kind import Kind

SCORES = Kind(
    name="scores",
    help="Evaluation scores (CSV or JSONL).",
    known_by="CSV or JSONL with `suite`, `score` and `model_id` (or `cell`, `family`, `step`)",
    domains=("checkpoints",),
    reader_version=1,
    tables=("evaluation_scores",),
    reader="ingest.scores.tables:ingest_scores",
    knows_file="ingest.scores.tables:is_scores",
)
