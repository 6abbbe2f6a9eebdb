"""A simulated campaign in rounds, its teacher's calls, and the truth."""
