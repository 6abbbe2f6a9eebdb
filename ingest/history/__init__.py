"""The contract that every tracker fills, and how a logged value is split into columns."""
