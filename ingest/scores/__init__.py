"""Evaluation scores, one row per model, suite and metric."""
