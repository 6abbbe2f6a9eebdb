"""`seamline ingest teacher-calls`: what was asked of teacher models. The reader is logs.py."""

from ingest.kind import Kind

TEACHER_CALLS = Kind(
    name="teacher-calls",
    help="LLM API call logs, JSONL; files named teacher_spend.jsonl are the run's own ledger.",
    known_by="JSONL records with a `usage` object and a `model`; calls in `teacher_calls/`; `teacher_spend.jsonl`",
    domains=("teacher",),
    reader_version=2,
    tables=("teacher_call_records", "teacher_spend", "observed_fields"),
    reader="ingest.teacher_calls.logs:ingest_teacher_calls",
    knows_file="ingest.teacher_calls.logs:matches",
)
