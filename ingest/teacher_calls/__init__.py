"""Logs of calls to a teacher or judge model, and the run's own ledger."""
