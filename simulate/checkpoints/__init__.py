"""A simulated sweep of checkpoints with its drivers' session logs, and the truth."""
