"""`seamline ingest driver-usage`: what the driving agents said they had spent. The reader is sessions.py."""

from ingest.kind import Kind

DRIVER_USAGE = Kind(
    name="driver-usage",
    help="Token reports of the driving agents' session logs (every driver/ folder below).",
    known_by="`<cell>/driver/**/*.jsonl`, `.json` of Codex CLI, Claude Code or plain token reports",
    domains=("checkpoints",),
    reader_version=2,
    tables=("driver_usage",),
    reader="ingest.driver_usage.sessions:ingest_driver_usage",
    knows_file="ingest.driver_usage.sessions:is_session_log",
)
