"""Campaigns in rounds: trees of candidates, and what else such a run leaves."""
