"""Simulated arms: trainers that crash and resume, the W&B logs they leave, and the truth."""
