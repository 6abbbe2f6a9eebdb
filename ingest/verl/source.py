"""`seamline ingest native-metrics`: verl's FileLogger. The reader is file_logger.py."""

from ingest.kind import Kind, Option

NATIVE_METRICS = Kind(
    name="native-metrics",
    help="verl FileLogger files (verl_metrics/<project>/<experiment>.jsonl).",
    known_by='lines `{"step": N, "data": {...}}`',
    domains=("curves", "rounds"),
    reader_version=1,
    tables=("history_logs", "history_rows", "history_values", "observed_fields"),
    reader="ingest.verl.file_logger:ingest_native_metrics",
    knows_file="ingest.verl.file_logger:matches",
    options=(Option("--run-id", str, "The run of these files, whatever their place."),),
)
