"""Simulated rollouts: shards with planted turns and tool calls, and the truth."""
