"""`seamline ingest wandb`: the readers of logs, exported histories, charts and the API lie beside this statement."""

from datetime import datetime

from ingest.kind import Kind, Option

WANDB = Kind(
    name="wandb",
    help="W&B runs: .wandb logs, exported histories (CSV, JSON, JSONL), chart exports, or the API.",
    known_by="`*.wandb`; tables with W&B's columns (`_step`, `_timestamp`), or named `history` with `run.json` beside",
    domains=("curves",),
    reader_version=2,
    tables=(
        "history_logs",
        "history_rows",
        "history_values",
        "history_config",
        "history_summary",
        "history_system_values",
        "history_axes",
        "history_server_reads",
        "history_server_runs",
    ),
    reader="ingest.wandb.files:ingest_chosen",
    knows_file="ingest.wandb.files:is_wandb_file",
    is_beside="ingest.wandb.files:is_beside",
    is_given_folders=True,
    argument_help="Folders with .wandb logs or exported histories, such files, or ENTITY/PROJECT[/RUN].",
    options=(
        Option("--run-id", str, "The run of an exported history that does not tell."),
        Option("--group", str, "Over the API: only runs of this W&B group."),
        Option(
            "--since",
            datetime,
            "Over the API: only runs made since this day or time (UTC), as 2026-09-01 or 2026-09-01T06:00:00.",
        ),
        Option("--run", str, "Over the API: only this run (repeatable).", is_repeatable=True),
        Option("--timeout", float, "Over the API: seconds to wait for a run that sends nothing.", 600.0, minimum=1),
    ),
)
