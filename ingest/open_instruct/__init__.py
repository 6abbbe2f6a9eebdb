"""open-instruct: rollout shards with their metadata."""
