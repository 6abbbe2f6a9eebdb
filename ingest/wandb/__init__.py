"""Weights & Biases: transaction logs, exported histories and charts, the API."""
